"""Words that exclude each other, and words that engineers use for each other."""

from clew.memory.judging.vocabulary import root

_PAIRS = """
    up/down on/off in/out into/out onto/off inside/outside near/far big/small large/small big/little large/little
    full/empty open/close open/closed open/shut start/stop begin/end add/remove enable/disable allow/forbid allow/deny
    allow/block permit/deny permit/forbid accept/reject accept/refuse include/exclude before/after first/last
    always/never all/none every/none each/none true/false public/private required/optional old/new old/young hot/cold
    warm/cold wet/dry high/low long/short fast/slow light/dark light/heavy left/right front/back top/bottom above/below
    over/under push/pull increase/decrease raise/lower rise/fall win/lose pass/fail read/write lock/unlock
    install/uninstall encrypt/decrypt encrypted/unencrypted same/different safe/dangerous safe/unsafe clean/dirty
    quiet/loud load/unload fill/empty sit/stand asleep/awake buy/sell friend/enemy happy/sad male/female man/woman
    boy/girl indoors/outdoors success/failure online/offline upper/lower most/least more/less cheap/expensive
    strong/weak hard/soft north/south east/west day/night summer/winter white/black present/absent
    sync/async synchronous/asynchronous synchronously/asynchronously blocking/nonblocking manual/automatic
    manually/automatically static/dynamic statically/dynamically mutable/immutable eager/lazy eagerly/lazily
    client/server local/remote internal/external input/output minimum/maximum ascending/descending
    encode/decode compress/decompress serialise/deserialise drop/keep discard/keep discard/queue delete/keep remove/keep
    hide/show hidden/shown hidden/visible visible/invisible create/delete insert/delete attach/detach mount/unmount
    connect/disconnect subscribe/unsubscribe register/unregister merge/split grow/shrink expand/collapse
    signed/unsigned valid/invalid stable/unstable supported/unsupported known/unknown sorted/unsorted ordered/unordered
    parallel/sequential parallel/serial shared/exclusive strict/lenient mandatory/optional optional/mandatory
    upstream/downstream ingress/egress inbound/outbound incoming/outgoing producer/consumer master/replica
    primary/secondary stateful/stateless cached/uncached full/incremental batch/streaming source/target
    scale/shrink upgrade/downgrade forward/backward inclusive/exclusive odd/even early/late relative/absolute
    plaintext/encrypted anonymous/authenticated raw/compressed vertical/horizontal head/tail
"""
_SAME = """
    require/need/expect/must/mandatory/demand/necessary
    forbid/prohibit/ban/disallow
    remove/delete/erase
    drop/discard/dump/lose
    reject/refuse/decline
    start/begin/launch
    stop/end/halt/terminate/shut
    save/store/keep/hold/persist/retain
    fetch/load/retrieve/download/get/obtain
    send/transmit/deliver/post/mail
    check/verify/validate/inspect/test
    create/make/generate/produce/build/compute
    change/modify/edit/alter/update
    allow/permit/may/can
    permitted/allowed
    expire/valid/live/lifetime/ttl/expiry
    retry/resend/repeat/again
    answer/respond/reply/return
    wait/pause
    limit/cap/maximum/restrict
    run/execute/operate
    happen/occur/take/place/do
    crash/fail/break/broken
    break/broken
    convert/transform/translate
    trigger/cause/lead/initiate
    because/since/so/therefore
    show/display/appear/render
    fast/quick/rapid
    slow/sluggish
    big/large/huge
    small/little/tiny
    whole/entire/complete/full
    begin/start
    near/close
    wrong/incorrect/invalid/false
    right/correct/proper
    error/mistake/fault/failure
    bug/defect
    folder/directory
    function/method/routine
    parameter/argument/option
    setting/configuration/config
    repository/repo
    database/db
    environment/env
    developer/engineer
    customer/client
    cluster/clusters
    use/employ/utilise/apply/rely
    write/record/log
    offer/give/provide/go
    renew/refresh
    upgrade/update
    hour/hourly
    day/daily
    night/nightly
    week/weekly
    month/monthly
    first/before/initially
    afterwards/later/after/then
    ahead/advance/beforehand
    last/final
    fall/drop
    empty/none
    grant/give
    fast/faster
    restart/reboot
    shut/close/closed/lock
    own/belong
    cut/truncate/trim
    split/divide/shard/partition
    sort/order
    join/merge/combine
    ignore/skip/disregard
    schedule/plan
    park/parked
    part/include/contain/in
    receive/take/accept/come/arrive/get
    dependent/depend/rely
    trust/believe
    deploy/deployment/rollout
    lowest/least
    approximately/about/roughly/around
    older/elder
    retrain/retraining
    below/under/fall
    above/over/exceed/than/larger/more/faster
    expired/expiry
    fallback/fall
"""


def _stems(line: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(root(word) for word in line.strip().split("/")))


OPPOSITES = frozenset(frozenset(_stems(pair)) for pair in _PAIRS.split())
_GROUPS: dict[str, frozenset[int]] = {}
for _at, _line in enumerate(line for line in _SAME.splitlines() if line.strip()):
    for _stem in _stems(_line):
        _GROUPS[_stem] = _GROUPS.get(_stem, frozenset()) | {_at}


def are_opposite(one: str, other: str) -> bool:
    """True for stems that exclude each other."""
    return frozenset((one, other)) in OPPOSITES


def are_synonyms(one: str, other: str) -> bool:
    """True for stems that engineers use for each other."""
    return one == other or bool(_GROUPS.get(one, frozenset()) & _GROUPS.get(other, frozenset()))
