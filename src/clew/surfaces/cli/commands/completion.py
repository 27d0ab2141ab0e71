"""`clew completion SHELL`: the script that a shell reads, and the words that it asks for."""

# Implements: REQ-d00445

import argparse
import sys

from clew.errors import InvalidArgument

EXAMPLE = """clew completion bash    # in ~/.bashrc: source <(clew completion bash)
clew completion zsh     # once: clew completion zsh > "${fpath[1]}/_clew", then start zsh again
clew completion fish    # once: clew completion fish > ~/.config/fish/completions/clew.fish"""

_BASH = r"""
_clew() {
    local words=("${COMP_WORDS[@]}") line word
    # Bash breaks words at ":" and "="; ids and places hold them, so the line is broken again at spaces.
    read -r -a words <<< "${COMP_LINE:0:COMP_POINT}"
    [[ "${COMP_LINE:0:COMP_POINT}" == *[[:space:]] ]] && words+=("")
    local current="${words[${#words[@]}-1]}" shown="${COMP_WORDS[COMP_CWORD]}"
    local before="${current%"$shown"}"
    COMPREPLY=()
    while IFS= read -r line; do
        word="${line%%$'\t'*}"
        if [[ "$word" == ":files" ]]; then
            compopt -o default 2>/dev/null
        elif [[ -n "$word" ]]; then
            [[ "$word" == "$before"* ]] && word="${word#"$before"}"
            COMPREPLY+=("$word")
        fi
    done < <(clew completion --words -- "${words[@]:1}" 2>/dev/null)
}
complete -F _clew clew
"""
_ZSH = r"""
#compdef clew
_clew() {
    local -a described
    local line word about files=0
    while IFS= read -r line; do
        word="${line%%$'\t'*}"
        about="${line#*$'\t'}"
        if [[ "$word" == ":files" ]]; then
            files=1
        elif [[ -n "$word" ]]; then
            described+=("${word//:/\\:}:${about}")
        fi
    done < <(clew completion --words -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( ${#described} )) && _describe -V 'clew' described
    (( files )) && _files
    return 0
}
if [[ "${funcstack[1]}" == "_clew" ]]; then
    _clew "$@"
else
    compdef _clew clew
fi
"""
_FISH = r"""
function __clew_words
    set -l typed (commandline -opc) (commandline -ct)
    clew completion --words -- $typed[2..-1] 2>/dev/null
end
complete -c clew -f
complete -c clew -n 'not __clew_words | string match -q ":files*"' -a '(__clew_words)'
complete -c clew -F -n '__clew_words | string match -q ":files*"' -a '(__clew_words | string match -v ":files*")'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", nargs="?", metavar="SHELL", help=f"one of {', '.join(SCRIPTS)}")
    parser.add_argument("typed", nargs="*", metavar="WORD", help=argparse.SUPPRESS)
    parser.add_argument("--words", action="store_true", help="what may follow the words of a command line; for scripts")


def run(args: argparse.Namespace) -> int:
    if args.words:
        from clew.surfaces.cli.completing import completions

        typed = [*([args.shell] if args.shell is not None else []), *args.typed]
        sys.stdout.write("".join(f"{word}\t{about}\n" for word, about in completions(typed or [""])))
        return 0
    if args.shell not in SCRIPTS or args.typed:
        known = ", ".join(SCRIPTS)
        raise InvalidArgument(
            f"'{args.shell}' is not a shell that Clew knows." if args.shell else "`clew completion` needs a shell.",
            hint=f"Write `clew completion` with one of {known}; `clew completion --help` says where the script goes.",
        )
    sys.stdout.write(SCRIPTS[args.shell].lstrip("\n"))
    return 0
