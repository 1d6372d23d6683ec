"""What people call the columns of a scaling table, as patterns for headers in lower case."""

from __future__ import annotations

import re

DEVICE = (
    r"(?:gpus?|devices?|ranks?|accelerators?|accels?|cards?|tpus?|npus?|gcds?|chips?|hpus?|xpus?|ipus?|tiles|workers?|"
    r"process(?:es|ors?)?|procs?|threads?|cores?|cpus|vcpus?|pes|learners?|trainers?|replicas?|executors?|containers?|goroutines?|"
    r"actors?|fpgas?|boards?)"
)
ON_ONE_MACHINE = re.compile(r"thread|\bcores?\b|\bcpus?\b")
"""Headers of devices that share a machine."""
IN_CAMEL_CASE = re.compile(
    r"(?<=[a-z])(?<!\bDeep)(?=(?:Eff|Time|Speed|Size|Count|G[Pp][Uu]|Throughput|Batch|Per|Sec|Ranks|Proc|Thread|Core|Node|Worker|"
    r"Device|Epoch|Iter|P\d\d\b))|(?<=Time)(?=(?:S|Ms|Min)\b)"
)
"""Where a word begins in a name such as numGpus or stepTimeMs."""
PER_DEVICE = re.compile(
    rf"(?:/|\bper\b|\beach\b|\bsingle\b)[ -]*{DEVICE}\b|\bper-?{DEVICE}\b|\blocal\b|/dev\b|^tgs\b"
)
ONE_EACH = re.compile(rf"\b(?:one|1|a(?: single)?) {DEVICE} (?:per|/|for each|on each) {DEVICE}\b", re.IGNORECASE)
"""How the ranks are placed, which says nothing of a rate: one process per GPU."""
PER_NODE = re.compile(r"(?:/|\bper\b)[ -]*(?:node|host|machine|server)s?\b")
OF_ALL = re.compile(r"\b(?:global|total|effective|overall|aggregate[d]?|cluster|system|all)\b")
NODE = r"(?:nodes?|hosts?|machines?|servers?|instances?|vms?|pods?|boxes)"
PERCENTILE = r"p(?:50|75|9\d)(?!\w)"
"""The name of a percentile, which is no device: P99 beside P100."""
_DURATION = r"(?<=\d)(?:m\d\d?(?:\.\d+)?s|h\d\d?m(?:in)?)(?!\w)"
"""The second part of a duration: 37m05s are no 37 devices of the kind M05."""
HARDWARE = rf"(?!{PERCENTILE}|{_DURATION})(?:[a-z]{{1,3}}\d{{2,4}}[a-z]{{0,2}}|mi\d{{3}}[a-z]?)(?:[- ]\d+ ?gb)?"
"""Names of devices, such as A100-80GB."""
GEFORCE = r"[1-5]0[5-9]0(?: ?ti)?(?: ?super)?"
"""Names of consumer devices that people print without RTX: 4090."""
MAKER = r"(?:(?:nvidia|amd|intel|huawei|google|tesla|geforce|rtx|gtx|quadro|instinct|ascend|gaudi)[ -]?)"
KIND = (
    rf"(?!(?:fp|bf|tf|int|bs|np|ws|[dtpecm]p)\d|{PERCENTILE})"
    rf"(?:{HARDWARE}|[tlpk]\d{{1,2}}|(?:rtx|gtx)[ -]?{GEFORCE}|"
    r"gtx[ -]?[4-9][5-9]0(?: ?(?:ti|m))?|(?:rtx|quadro)[ -]?a?\d{4}|gaudi[ -]?\d|"
    r"rtx[ -]?pro[ -]?\d{4}|ascend[ -]?910[a-d]?|max[ -]?1[15]50|trn\d|"
    r"titan(?: ?(?:xp?|v|rtx))?|tpu ?v\d[ep]?|(?:radeon )?rx ?\d{4}(?: ?xtx?)?)"
)
"""A kind of device by its number: A100, T4, RTX 4090. Its maker may be in front of it."""
OF_WHAT = (
    r"(?:(?:cpu|mpi|openmp|omp|physical|logical|virtual|hardware|rayon|tokio|posix|os|native|green|(?:py)?torch|"
    r"python|java|jvm|intra-op|parallel|concurrent|worker|compute|grad(?:ient)?|background)[ -]|[pe]-)"
)
"""What a thread, a core or a rank is of: `8 CPU threads`."""
LINK = r"(?:nvlink|nvswitch|pcie|infiniband|ethernet|roce)"
"""Names of what connects devices."""
COUNT = (
    r"(?:no|num(?:ber)?s?|n|nb|count|total|of|the|used|world|size|amount|qty|quantity|in|use|scale|how|many|"
    r"\W)*"
)
SECOND = r"(?:/|\bper\b|p) ?(?:s|secs?|seconds?|min(?:ute)?s?|h|hr|hours?|day|ms)\b"
WORK = (
    r"(?:[kmg]?(?:atoms?|particles?|cells?)[ -](?:time)?steps?|"
    r"im(?:a)?ge?s?|samples?|ex|tok(?:en)?s?|seq(?:uence)?s?|sentences?|frames?|words?|items?|mels?|examples?|"
    r"quer(?:y|ies)|reqs?|requests?|utterances?|videos?|clips?|graphs?|molecules?|atoms?|volumes?|records?|"
    r"rows?|episodes?|ep|pairs?|patches?|points?|edges?|nodes?|t?flop/?s?|users?|messages?|"
    r"ops|docs?|tasks?|jobs?|series|cells?|particles?|trials?|files?|reads?|events?|env(?:ironment)? steps?)"
)
MICRO_BATCHES = re.compile(
    r"(?:num(?:ber)? ?(?:of)?|#) ?micro[- ]?batch(?:es)?|micro[- ]?batch(?:es)? (?:num(?:ber)?|count)|micro num"
)
"""Headers of how many micro-batches a step has."""
STEP = (
    r"(?:(?:training |time ?|optimi[sz]er |update |micro-?)?"
    r"(?:steps?|it(?:er(?:ation)?)?s?|batch(?:es)?|updates?))"
)
OF_ONE = (
    rf"\b(?:ns|us|ms|s|secs?|seconds?|min)\W*(?:/|\bper\b) ?(?:op|{WORK}|call|item)\b|"
    r"\b(?:s|secs?|seconds?|min|minutes?|h|hours?|days?)\W*(?:/|\bper\b) ?"
    r"(?:(?:m|model(?:led)?|sim(?:ulated|ulation)?)?[ -]?(?:day|month|year)s?|sy|"
    r"(?:1 )?[munp]s|(?:nano|pico|micro)seconds?|1?[ -]?[kmb][ -]?(?:tokens?|samples|images|examples))\b|"
    rf"^(?:ms|secs?|seconds|minutes) ?(?:/|per) ?(?:(?:global|single|input|output) )?"
    rf"(?!{STEP}|{DEVICE}|{NODE}|ep)[a-z]{{2,12}}$"
)
"""Headers of the time of one piece of work: ms/token."""
SIMULATED = r"\bsim(?:ulat(?:ed|ion))?(?: time)? ?/ ?(?:wall|real|run|elapsed|exec)"
"""Header of a rate: simulated time over that of the computation."""
REAL_TIME = rf"{SIMULATED}|^i(?:nv\w*)? ?rtf$|^rtfx$"
"""Rates relative to real time, such as 51x."""
RATED = (
    rf"{REAL_TIME}|\bns/day\b|\bs[yd]pd\b|\b[mg] ?(?:[lc]?ups|teps)\b|\b[kmgt]?h/s\b|^[kmg]?ops$|^pps$|"
    rf"^tgs\b|\bhash ?rate\b|\b(?:mega|giga|tera|peta|exa|[mgtpe])flop/?s? ?(?:/|per) ?{DEVICE}\b|"
    rf"\b[kmg]?{WORK} ?{SECOND}|\b[kmg]?{WORK}/(?:s|secs?)\b|\b(?:ips|fps|qps|rps|wps|tps|nps|sps)\b|"
    r"[(\[][mgtpe]flop/?s[)\]]$"
)
"""Rates that their own names say."""
TIMED = (
    r"\bw?tim(?:e|ing)s?\b|\b(?!cpu|any|up)[a-z]{1,3}time\b|"
    r"(?<!max[- ])duration|elapsed|\bwall|run-?time|makespan|latency|"
    r"\bexec(?:ut(?:e|ion))?\b|\btime-delta\b|"
    r"^t\.? ?(?:total|tot|wall|exec|run|elapsed|parallel|max|avg|mean)\b(?!.*[(\[][ck\u00b0])|"
    r"\b(?:ttft|tpot|itl)\b|^t ?\([pn]\)|^t ?[pn](?:$|,? ?[(\[]|, )|^t ?\{?par\}?(?:$|,? ?[(\[])|^t$|^real$|"
    r"^cost ?\((?:ms|s|secs?|seconds|min|h)\)"
)
"""Words of a time."""
OF_A_PART = re.compile(
    r"(?<!work)load|\bcomm(?:s|\b|unicat)|sync\b|all[- ]?reduce|all[- ]?gather|reduce[- ]?scatter|compil|complie|"
    r"start-?up|"
    r"\binit|\bset-?up|\bdata ?(?:time|wait)|\b(?:h2d|d2h)\b|\boptimi[sz]er time|\blogging|\bremainder|"
    r"\bp\d\d|percentile|\btail|checkpoint|\bsav(?:e|ing)|\bwait|transfer|\bi/?o\b|\bcopy|"
    rf"\b(?:{DEVICE}|cpu|node)(?:[-\u00b7*](?:s|secs?|seconds|h|hrs?|hours?|days?)\b|[ ](?:seconds|hours|days)\b)|"
    r"\b(?:validation|eval(?:uation)?) time|" + SIMULATED
)
"""Times of a part of a step, or of what is done once, device-seconds, and rates over a time."""
OF_COMPUTING = re.compile(r"\b(?:comm(?:unication)?|comput(?:e|ation))\.? ?[(\[]")
"""Headers of the parts of a step: Compute (s), Comm(s)."""
PRECISIONS = {
    "fp32": r"(?:fp|float)[ -]?32|single precision",
    "tf32": r"tf[ -]?32",
    "mixed": r"(?:auto(?:matic)? )?mixed[- ]precision|\bmixed\b|\btf-amp\b|\bamp\b",
    "fp16": r"(?:fp|float)[ -]?16|half precision",
    "bf16": r"bf(?:loat)?[ -]?16",
    "fp8": r"fp[ -]?8",
    "fp64": r"(?:fp|float)[ -]?64",
}
TIME_UNIT = r"(?:us|ms|msecs?|s|secs?|(?:milli|micro)?seconds?|min(?:ute)?s?)"
UNIT_OF_TIME = {
    "ns": r"\b(?:ns|nanoseconds?)\b",
    "ms": r"\b(?:ms|msecs?|milliseconds?)\b",
    "us": r"\b(?:us|usecs?|microseconds?)\b",
} | {
    "min": r"\bm(?:in(?:ute)?s?)?\b(?! ?[-\u2013/,.]+ ?max)",
    "h": r"\b(?:h|hrs?|hours?)\b",
    "d": r"\bdays?\b|[(\[]d[)\]]",
    "week": r"\bweeks?\b",
    "month": r"\bmonths?\b",
    "year": r"\byears?\b",
    "s": r"\b(?:s|secs?|seconds?)\b",
}
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
SECONDS |= {"week": 7 * 86400.0, "month": 365.25 / 12 * 86400.0, "year": 365.25 * 86400.0}
PERIODS = {"ms": 1e-3, "mi": 60.0, "h": 3600.0, "d": 86400.0}
"""Beginning of the name of a time that work is counted in -> seconds, where it is not a second."""
NEVER = re.compile(
    r"memory|\bmem\b|slow-?down|\ballocs?\b|vram|util|power|watt|cost|price|\$|\b(?:usd|eur|dollars?|cents)\b|\u20ac|\u00a3|accuracy|\bacc\b|loss|perplexity|bleu|map\b|score|"
    r"temperature|overhead|gpu[- ]?hours|energy|bandwidth|latency|\bmfu\b|\bhfu\b|error|std|deviation|expected|"
    r"target(?!s?/)|^goal|ideal|param|per (?:token|request)|"
    r"epochs?$|\btop-?[15]\b|\bdice\b|\bmiou\b|learning|\blr\b|notes?\b|remark|comment|\blink|script|command|status"
)
TIME_STEPS = re.compile(r"(?:# ?|no\.? of |num(?:ber)? ?(?:of )?|n )?time(?: ?-?steps|step)")
"""Headers of how many steps a simulation does, which is no time of a step."""
SERIAL_RUN = (
    r"(?:serial|sequen[ct]ial|secuencial|s[eé]quentiel(?:le)?|sequen[tz]iell|seriell|sequenziale|seriale|"
    r"串行|顺序|順序|逐次|직렬|순차|последовательн\w*)"
)
"""Words for a run of one process, in the languages of headers."""
IDEAL = r"(?:linear|ideal|perfect|theor\w*|expected)"
_WITH_SPREAD = (
    r"\b(?:mean|avg|average)\b ?[(\u00b1+&/,]|\w.*\u00b1|\w.* \+ ?/ ?- ?|"
    r"\bst(?:an)?d\w* in (?:brackets|parenthes[ei]s)"
)
"""Headers of a measurement that has its spread beside it."""
SPREAD = re.compile(
    rf"^\W*(?:\+ ?/? ?-|\u00b1)\W*$|^(?!.*(?:{_WITH_SPREAD})).*(?:"
    r"\bstd\b|\bs\.d\.?(?!\w)|^\u03c3(?!\w)|"
    r"\bst(?:andar)?d\.? ?dev|\bstdev|\bdeviation|\bvariance|\bsigma\b|\bstd ?err|standard error|\bcv\b|"
    r"\bconfidence|\bjitter|\biqr\b|\bp\d\d ?(?:-|\u2013|to) ?p\d\d\b|\d\d ?% ?ci\b|^range\b|\brange$|"
    r"^min ?(?:-|\u2013) ?max\b)"
)
"""Headers of a spread, which is no measurement of its own."""
EFFICIENCY = (
    rf"efficien(?!t[- ]?(?:net|det|vit|former|sam|nas))|\beff(?:ic)?\b(?!\.? (?:global )?(?:batch|bs\b))|"
    rf"(?:%|\bof|\bto|\bvs\.?) {IDEAL}\b(?! (?:systems?|solve|equations?|algebra|layers?|models?|regress))|"
    r"^e ?(?:\([pn]\)|[pn])(?:,? ?[(\[]?%[)\]]?)?$|\blinearity\b|"
    rf"\blinear(?: scaling)? ?\(?%|% ?of {IDEAL}"
)
OTHER_RATIO = re.compile(
    r"\bcpu eff|energy|memory|power|mfu|flop|\$|\bcost|price|"
    r"\b(?:loss|laws?|factor of|(?<!of )(?<!to )(?<!vs )(?<!vs\. )(?<!% )(?:ideal|expected|theor\w*)|"
    r"(?<!of )(?<!to )(?<!vs )(?<!vs\. )(?<!% )linear$)\b|"
    r"\btarget\b|\b(?:amdahl|gustafson)\b|\blr\b|learning"
)
"""Ratios that are not measured, or not of the time of a training."""
OF_A_PRECISION = re.compile(
    r"\b(?:with|from|of|over|vs\.?|versus|due to|by|to) (?:mixed|amp|fp|tf|bf)|^mixed precision"
)
SCALING = re.compile(
    rf"\bscal(?:ing|e|ability)\b(?!(?<!scaling) factor)(?!(?<=scale) ?[(\[] ?(?:# ?)?(?:{DEVICE}|{NODE})[)\]])"
)
SPEEDUP = re.compile(
    r"sp(?:ee)?d ?-?ups?\b|^(?:relative )?speed (?:vs\.?|over|relative to|compared (?:to|with)) |"
    r"(?:relative ?)?speed ?(?:increase|gain)|acceleration|faster|"
    r"^(?:vs\.?|over) (?:single|one|1)(?:x\b|\b)|"
    r"^(?:x )?(?:(?:relative|rel\.?)(?: to)?|vs\.?|over|compared (?:to|with)) "
    rf"(?:\d{{1,6}}|one|single) ?-?(?:{DEVICE}|{NODE})\b|"
    r"\b(?:relative|rel\.?|normali[sz]ed) (?:perf|performance|throughput|speed)\b|\bgain\b|"
    r"^s ?\([pn]\)$|^s ?[pn]$|^speed ?ratio$|^t ?[(_]?(?:1|s|seq)\)? ?/ ?t ?[(_]?[np]\)?$|"
    r"^\(?x?\)? ?(?:vs\.?|over) (?:baseline|serial|sequential)"
)
RELATIVE = re.compile(
    r"^(?:relative(?: to)?|compared (?:to|with)|ratio(?: to| vs\.?| over)?|improvement|change|"
    r"multiplier|factor|increase|normali[sz]ed|"
    r"scal(?:ing|e) factor|x|(?:vs\.?|over|versus) (?:single|one|1x?|base(?:line)?|serial|smallest|first))(?!\w)"
)
"""Ratios that are relative to the fewest devices if they are 1 there."""
LABELS = (
    ("case", r"case|series|experiment|exp"),
    (
        "strategy",
        r"strateg(?:y|ies)|parallelism|parallelization|methods?|distribution|ddp|zero(?: stage)?|algorithms?|"
        r"shard(?:ing)?(?: (?:strategy|mode|type|level|method))?|"
        r"(?:fsdp|parallel\w*|distribut\w*) (?:strategy|mode|type|method)",
    ),
    (
        "framework",
        r"frameworks?|code|tool|package|program|library|implementations?|engine|software|backend|version|codebase",
    ),
    (
        "hardware",
        r"hardware|(?:gpu|device|accelerator)(?: ?(?:type|model|name|arch(?:itecture)?))?|machine|system|platform|"
        r"resources?|instance(?: type)?|server|cluster",
    ),
    (
        "model",
        r"(?:[a-z][\w.+-]{0,11} )?model(?: ?(?:size|name|type|dimension|scale|variant))?|network|"
        r"arch(?:itecture)?|backbone|workload|"
        r"benchmark|task",
    ),
    ("precision", r"precision|d ?type|data ?type|math|mixed precision|amp"),
    ("scaling", r"scaling(?: ?(?:type|mode|kind))?|kind of scaling"),
    ("throughput_unit", r"throughput ?unit|unit"),
    (
        "label",
        r"source|scenarios?|operations?|use ?cases?|routines?|"
        r"data ?set|data(?: ?set)? ?sizes?|seq(?:uence)? ?(?:len(?:gth)?)?|context(?: ?len(?:gth)?)?|"
        r"max ?len|dimensions?|"
        r"resolution|(?:image|input|crop) ?size|"
        r"(?:(?:gpu|hardware|training|system|run|test|device|node|parallel) )?"
        r"(?:config(?:uration)?s?|setups?)|settings?|optimi[sz]er|compiler?|xla|"
        r"dali|data ?loader|storage|placement|"
        r"interconnect|topology|phase|stage|variant|fabric|dropout|tp|pp|dp|cp|ep|mp|"
        r"(?:tensor|pipeline|data|context|sequence|expert|model)[- ]parallel(?:ism)?(?: (?:size|degree))?|"
        r"cuda graphs?|run|name|type",
    ),
)

STRATEGIES = re.compile(
    r"\b(?:ddp|fsdp2?|hsdp|zero[- ]?(?:stage[- ]?)?[123]?|deepspeed|horovod|"
    r"(?:distributed ?)?data ?parallel|megatron(?:-lm)?|"
    r"(?:tensor|pipeline|expert|context|sequence|model)[- ]parallel\w*)\b",
    re.IGNORECASE,
)
"""Ways to distribute a training."""
ALONE = ("baseline", "single", "reference")
"""Words behind the hardware of a run that no strategy distributes."""
NOT_MEASURED = re.compile(
    r"\W*(?:planned|projected|estimated?|expected|forecast|goal|tbd|pending|queued|scheduled|"
    r"(?:still )?(?:in progress|ongoing)|not (?:yet )?(?:run|started|finished|done|measured)(?: yet)?|"
    r"target(?! (?:enc|net|detect|speech|domain|task|lang))(?: \w+){0,3})\W*",
    re.IGNORECASE,
)
"""A cell of a row that is a plan or a target."""
FAILED = re.compile(
    r"\W*(?:[1-9]\d{0,2}\W{1,3})?"
    r"(?:timed[ -]?out|time-?out|failed|failure|fail|crash(?:ed)?|killed|aborted|did not finish|dnf|"
    r"deadlock(?:ed)?|hung|incomplete|diverged)\W*",
    re.IGNORECASE,
)
"""A cell that says how a run ended that did not do its work."""
OF_A_GOAL = re.compile(
    r"[<>\u2264\u2265]=? ?\d|\b(?:gates?|goals?|targets?|criteri(?:on|a)|thresholds?|requirements?|sla)\b"
)
"""Words of a header whose cells say whether a measurement is as good as somebody asks."""
