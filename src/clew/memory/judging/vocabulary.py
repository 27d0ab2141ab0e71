"""Lists of common words by what they do in a statement."""

from clew.text.keywords import STOP_WORDS
from clew.text.stem import stem

_SHORTEST = 5
"""Letters of a stem that still loses its `e`."""


def root(word: str) -> str:
    """The stem of a word; also `queue` and `queued`, which the stemmer keeps apart, have one."""
    found = stem(word)
    return found.removesuffix("e") if len(found) >= _SHORTEST else found


_AUXILIARIES = """
    is are was were be been am being has have had do does did can could may might must shall should will would need
    needs needn't
"""
AUXILIARIES = frozenset(_AUXILIARIES.split())
_SUBORDINATE = """
    when if until unless while because since that which who whose where after before as once
"""
SUBORDINATE = frozenset(_SUBORDINATE.split())
"""Words that begin a clause inside another one."""
_PREPOSITIONS = """
    on in at by for from with during between under over to of
"""
BEFORE_A_SUBJECT = SUBORDINATE | frozenset(_PREPOSITIONS.split())
_LIGHT = """
    get gets got go goes going went gone take takes taken took make makes made do does done use uses used using come
    comes came happen happens new also way thing things kind one ones want wants please first second then next
    anybody somebody anyone someone always each every all any only never not no none nothing without must may can
    have has need needs rather exactly simply currently
"""
LIGHT = STOP_WORDS | frozenset(_LIGHT.split())
"""Words that two statements may differ in without saying different things."""
_VERBS = """
    accept access acknowledge add admit affect aim alert allow answer append apply approve arrive ask assert assign
    attach authenticate avoid back batch become begin belong benefit block book boot break buffer build bundle burn
    buy cache calculate call cancel capture carry cascade catch cause change charge check choose claim clean clear
    close collect combine come commit communicate compare compile complete compress compute configure connect
    consist consume contain control convert copy correct cost count cover crash create cut deal decide decline
    decode decrease deliver deny depend deploy describe detect determine die differ disable discard dispatch display
    divide double download drain draw drive drop dump emit enable encode encrypt end enforce ensure enter equal
    evaluate evict examine exceed exclude execute exist exit expand expect expire export expose fail fall feed fetch
    fill filter find finish fire fit fix flush follow forbid force format forward free freeze generate get give go
    grant group grow guarantee guard handle happen hash have help hide hit hold host identify ignore import improve
    include increase index infer inherit inject inline insert inspect install invalidate invoke isolate issue join
    keep kill know lack land last launch lead leak learn leave let lie limit link lint list listen live load lock
    log look lose lower maintain make manage map match mean measure merge migrate miss mock model monitor mount move
    need normalise notify offer omit open operate order own pack page panic parse partition pass patch pause pay
    perform persist pick pin poll populate post precede predict prefer prepare prevent print process produce project
    promote protect provide prune publish pull purge push put queue raise rank reach react read rebuild receive
    record recover redirect reduce refer refresh refuse register reject release rely remain remove render renew
    repeat replace replicate report represent request require reset resolve respond restart restore restrict result
    retain retrain retry return reuse revoke rewrite rise roll rotate round route run sample save say scale scan
    scrape see seem select send separate serve set settle share ship show shut sign sit skip sleep sort spawn split
    stage start stay stop store stream submit subscribe succeed suggest supply support survive suspend switch sync
    synchronise take target test throw tick time tolerate touch trace track train transform translate travel treat
    trigger trim trust try turn unlock update upgrade upload use validate vary verify wait walk want warn watch work
    wrap write
"""
VERBS = frozenset(root(word) for word in _VERBS.split())
"""Verbs that are usual in notes of engineers, by their stems."""
_NO_LABEL_AFTER = """
    a an the is are was were be at in on of to from by for with than over under below above most least only about
    every each has have had needs need takes take lasts last and or up after before within exceeds exceed keeps keep
    holds hold returns uses use retries waits means around roughly nearly between until all of listens least accepts
    allows may at requires gets costs shows serves supports reaches equals contains adds makes sends
"""
NO_LABEL_AFTER = frozenset(_NO_LABEL_AFTER.split())
"""Words behind which a number is an amount; behind a noun it is a label, as in `dock 4`."""
