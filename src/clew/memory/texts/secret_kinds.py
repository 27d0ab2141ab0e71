"""Shapes of secrets: tokens by their spelling, and values by the name they are assigned to.

A pattern begins where no character of its own comes before it, so that a long run of such characters is looked at once
and not from each of its places: the time that a text takes grows with its length alone.
"""

import re
from functools import cache

_START = r"(?<![A-Za-z0-9])"
_START_OF_RUN = r"(?<![A-Za-z0-9_-])"
_HEX = "[0-9a-fA-F]"
_WORD = "[A-Za-z0-9]"
_RUN = "[A-Za-z0-9_-]"

_TOKENS: tuple[tuple[str, str, str], ...] = (
    (
        "pgp_private_key",
        "PGP",
        r"-----BEGIN PGP PRIVATE KEY BLOCK-----[\s\S]*?(?:-----END PGP PRIVATE KEY BLOCK-----|\Z)",
    ),
    (
        "private_key",
        "PRIVATE",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|\Z)",
    ),
    ("putty_private_key", "PuTTY-User-Key-File-", r"PuTTY-User-Key-File-\d[\s\S]*?(?:Private-MAC: ?[0-9a-f]+|\Z)"),
    ("age_secret_key", "AGE-SECRET-KEY-1", rf"{_START}AGE-SECRET-KEY-1[0-9A-Za-z]{{20,}}"),
    ("aws_access_key", "AKIA ASIA ABIA ACCA", rf"{_START}(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{{16}}(?![0-9A-Za-z])"),
    ("alibaba_access_key", "LTAI", rf"{_START}LTAI[0-9A-Za-z]{{16,28}}(?![0-9A-Za-z])"),
    ("google_api_key", "AIza", rf"{_START}AIza{_RUN}{{35}}"),
    ("google_oauth_secret", "GOCSPX-", rf"{_START}GOCSPX-{_RUN}{{20,}}"),
    ("google_oauth_token", "ya29.", rf"{_START}ya29\.{_RUN}{{20,}}"),
    ("azure_client_secret", "Q~", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}"),
    (
        "azure_storage_key",
        "AccountKey= SharedAccessKey=",
        r"(?<=AccountKey=)[A-Za-z0-9+/]{40,}={0,2}|(?<=SharedAccessKey=)[A-Za-z0-9+/]{20,}={0,2}",
    ),
    ("azure_signature", "sig=", r"(?<=[?&]sig=)[A-Za-z0-9%+/]{30,}=?"),
    ("digitalocean_token", "_v1_", rf"{_START}do[opr]_v1_{_HEX}{{40,}}"),
    (
        "github_token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        rf"{_START}(?:gh[pousr]_{_WORD}{{30,}}|github_pat_\w{{40,}})",
    ),
    ("gitlab_token", "gl", rf"{_START}gl(?:pat|dt|ptt|rt|cbt|ft|imt|agent|oas|soat)-[A-Za-z0-9_.-]{{18,}}"),
    ("slack_token", "xox xapp-", rf"{_START}(?:xox[abeoprs]|xapp)-{_RUN}{{10,}}"),
    ("slack_webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9_/-]{20,}"),
    ("discord_webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d{10,}/[\w-]{30,}"),
    ("discord_token", ".", rf"{_START_OF_RUN}[MNO]{_RUN}{{22,27}}\.{_RUN}{{6}}\.{_RUN}{{27,}}"),
    ("teams_webhook", "webhook.office.com", r"webhook\.office\.com/webhookb2/[\w@/-]{30,}"),
    ("telegram_token", ":AA", rf"{_START}\d{{8,10}}:AA{_RUN}{{32,}}"),
    (
        "stripe_key",
        "k_live_ k_test_ k_prod_ whsec_",
        rf"{_START}(?:[rs]k_(?:live|test|prod)_{_WORD}{{16,}}|whsec_{_WORD}{{16,}})",
    ),
    ("square_token", "sq0 EAAA", rf"{_START}(?:sq0[a-z]{{3}}-{_RUN}{{22,}}|EAAA{_RUN}{{56,}})"),
    ("paypal_token", "access_token$", rf"{_START}access_token\$production\${_WORD}{{10,}}\${_HEX}{{20,}}"),
    ("shopify_token", "shp", rf"{_START}shp(?:at|ca|pa|ss)_{_HEX}{{30,}}"),
    ("anthropic_key", "sk-ant-", rf"{_START}sk-ant-{_RUN}{{20,}}"),
    ("api_key", "sk-", rf"{_START_OF_RUN}sk-{_RUN}{{20,}}"),
    ("huggingface_token", "hf_ api_org_", rf"{_START}(?:hf|api_org)_{_WORD}{{30,}}"),
    ("replicate_token", "r8_", rf"{_START}r8_{_WORD}{{30,}}"),
    ("groq_key", "gsk_", rf"{_START}gsk_{_WORD}{{40,}}"),
    ("perplexity_key", "pplx-", rf"{_START}pplx-{_WORD}{{40,}}"),
    ("npm_token", "npm_", rf"{_START}npm_{_WORD}{{36,}}"),
    ("pypi_token", "pypi-", rf"{_START}pypi-AgE{_RUN}{{40,}}"),
    ("rubygems_token", "rubygems_", rf"{_START}rubygems_{_HEX}{{40,}}"),
    ("docker_token", "dckr_pat_", rf"{_START}dckr_pat_{_RUN}{{20,}}"),
    ("sendgrid_key", "SG.", rf"{_START_OF_RUN}SG\.{_RUN}{{16,32}}\.{_RUN}{{16,64}}"),
    ("mailgun_key", "key-", rf"{_START_OF_RUN}key-{_HEX}{{32}}(?![0-9A-Za-z])"),
    ("mailchimp_key", "-us", rf"{_START}{_HEX}{{32}}-us\d{{1,2}}(?![0-9A-Za-z])"),
    ("twilio_key", "SK", rf"{_START}SK[0-9a-f]{{32}}(?![0-9A-Za-z])"),
    ("databricks_token", "dapi", rf"{_START}dapi{_HEX}{{32}}"),
    ("dynatrace_token", "dt0", rf"{_START}dt0[a-z]\d\d\.[A-Z0-9]{{24}}\.[A-Z0-9]{{60,}}"),
    ("vault_token", "hvs. hvb. hvr.", rf"{_START}hv[sbr]\.{_RUN}{{20,}}"),
    ("terraform_token", ".atlasv1.", rf"{_START_OF_RUN}{_WORD}{{14}}\.atlasv1\.{_RUN}{{50,}}"),
    ("pulumi_token", "pul-", rf"{_START}pul-{_HEX}{{40}}"),
    ("doppler_token", "dp.", rf"{_START}dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{{30,}}"),
    ("grafana_token", "glsa_ glc_", rf"{_START}gl(?:sa|c)_[A-Za-z0-9+/=_]{{30,}}"),
    ("new_relic_key", "NR", rf"{_START}NR(?:AK|AL|II|IQ|JS|RA)-{_WORD}{{20,}}"),
    ("sentry_token", "sntry", rf"{_START}sntry[su]_[A-Za-z0-9+/=_-]{{40,}}"),
    ("linear_key", "lin_", rf"{_START}lin_(?:api|oauth)_{_WORD}{{30,}}"),
    ("notion_token", "secret_ ntn_", rf"{_START}(?:secret_{_WORD}{{40,}}|ntn_{_WORD}{{40,}})"),
    ("airtable_token", "pat", rf"{_START}pat{_WORD}{{14}}\.{_HEX}{{60,}}"),
    ("atlassian_token", "ATATT ATCTT ATBB", rf"{_START}AT(?:ATT|CTT|BB)3?[A-Za-z0-9_=-]{{28,}}"),
    ("figma_token", "figd_", rf"{_START}figd_{_RUN}{{30,}}"),
    ("postman_key", "PMAK-", rf"{_START}PMAK-{_HEX}{{24}}-{_HEX}{{30,}}"),
    ("supabase_token", "sbp_ sb_secret_", rf"{_START}sb(?:p_{_HEX}{{36,}}|_secret_{_RUN}{{20,}})"),
    ("planetscale_token", "pscale_", rf"{_START}pscale_(?:tkn|pw|oauth)_[\w.-]{{30,}}"),
    ("tailscale_key", "tskey-", rf"{_START}tskey-[a-z]+-{_RUN}{{16,}}"),
    ("heroku_key", "HRKU-", rf"{_START}HRKU-{_RUN}{{30,}}"),
    ("jwt", "eyJ", rf"{_START_OF_RUN}eyJ{_RUN}{{8,}}\.eyJ{_RUN}{{8,}}\.{_RUN}{{8,}}"),
    ("bearer_token", "earer EARER", r"(?i:(?<=bearer )|(?<=bearer\t))(?=[^\s\d]{0,200}\d)[A-Za-z0-9._~+/-]{16,}=*"),
    (
        "basic_authorization",
        "asic ASIC",
        r"(?i:(?<=authorization: basic )|(?<=authorization:basic ))[A-Za-z0-9+/]{8,}={0,2}",
    ),
    (
        "url_password",
        "://",
        r"(?<=://)[^\s:/@'\"<>`{$]{0,256}:(?!\d{1,5}(?:[/?#]|(?=@)))[^\s@'\"<>`{$][^\s@'\"<>`]{0,1023}(?=@)",
    ),
    ("curl_password", "--user -u", r"(?<=curl -u )[^\s:]{1,256}:[^\s'\"]{3,}|(?<=--user )[^\s:]{1,256}:[^\s'\"]{3,}"),
    ("netrc_password", "machine", r"(?<=machine )\S{1,256}\s+login\s+\S{1,256}\s+password\s+\S+"),
)
TOKENS = tuple((kind, tuple(marks.split()), pattern) for kind, marks, pattern in _TOKENS)
"""Each kind with marks, of which every secret of that kind has one, and its pattern. A text is searched for a pattern
only where it has such a mark: looking for a fixed text is a hundred times as fast."""
compiled = cache(re.compile)
"""Patterns are read when a text has their mark: a hook starts with every prompt, and most prompts have none."""

_NAMES: tuple[tuple[str, str], ...] = (
    ("password", r"pass(?:word|wd|phrase|wort)|pwd|(?<=[_.-])pass(?![a-z])"),
    ("aws_secret_key", r"aws[_.-]?secret[_.-]?(?:access[_.-]?)?key"),
    ("client_secret", r"client[_. -]?secret"),
    ("api_key", r"api[_. -]?key|apikey|x-api-key"),
    ("access_key", r"(?:access|account|auth|encryption|master|private|secret|shared|signing|storage)[_. -]?key"),
    ("access_token", r"(?:access|auth|bearer|bot|refresh|session|id)[_. -]?token"),
    ("secret", r"secret"),
    ("token", r"token(?![a-z])"),
    ("credential", r"credentials?|authorization|auth(?![a-z])"),
    ("key", r"(?<=[_.-])key(?![a-z])"),
)
NAME_MARKS = ("pass", "pwd", "secret", "token", "key", "credential", "auth")
"""Of which every such name has one."""
NAMES = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _NAMES)
"""Patterns of names whose values are secrets."""

KINDS: tuple[str, ...] = tuple(dict.fromkeys(kind for kind, *_ in (*_TOKENS, *_NAMES)))
