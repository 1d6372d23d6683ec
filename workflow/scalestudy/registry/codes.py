"""What a column of words may say: codes that the analysis hands over, and that documents have words for.

Every cell has one, `none` where there is nothing to say: an empty cell of a CSV comes back as a number. A code is
the name of its member in lower case.
"""

from enum import StrEnum

Steadiness = StrEnum("Steadiness", "NONE STEADY LEVEL_CHANGE TWO_MODES")
"""Whether one mean describes the steps of a launch after its warm-up."""
UNSTEADY = (Steadiness.LEVEL_CHANGE, Steadiness.TWO_MODES)

LAUNCH_ENDS = ("diverged", "failed", "ok", "too_short", "oom", "preempted", "timeout")
"""How a launch may end; `too_short`: at its end, but without steady steps. Columns are `launches_oom` ..."""

MemoryKind = StrEnum("MemoryKind", "NONE ALLOCATED RESIDENT")

IntervalMethod = StrEnum("IntervalMethod", "NONE T_WITHIN_REPEATS HIERARCHICAL_BOOTSTRAP T_WITHIN_LAUNCHES")
"""How the limits of a speedup were made."""

NotAlternated = StrEnum("NotAlternated", "NONE COMMAND PRECISION ENVIRONMENT WORKERS BOOKKEEPING")
"""Why the base case of a variant is not trained in the processes of its launches. Arithmetic and environment
belong to a process as a whole; a command trains what it trains; workers go on reading; logging and checkpoints are
left out of all that follows a launch."""

Turns = StrEnum("Turns", "NONE MADE CONTENDED NO_MEMORY")
"""Whether the base case took turns with a launch in its processes, where it was to. CONTENDED: others had the
cores in every round."""

Spoiled = StrEnum("Spoiled", "NONE UNKNOWN OTHER_LOAD STOLEN_TIME THROTTLED SWAPPED CLOCK_SET SHARED_GPU")
"""What else a host did while a launch was measured. UNKNOWN: nobody watched, as in records of earlier releases."""

Stopped = StrEnum(
    "Stopped",
    "NONE TARGET_REACHED BUDGET_ENDED ONE_LAUNCH DECIDED SPEEDUP_KNOWN LAUNCHES_ENDED HOURS_ENDED SERVES",
)
"""Why a point has as many launches as it has."""

Settled = StrEnum("Settled", "NO DECIDED PRECISE FAILED")
"""Why no more launches are made for a comparison: its verdict is decided, its interval is narrow, or its launches
fail; `no` while more are made."""

Methods = StrEnum("Methods", "NONE AGREE DISAGREE NOT_COMPARED_FSDP NOT_COMPARED_ONE_ROUND")
"""What methods of measuring communication say of each other."""

SlowestLink = StrEnum("SlowestLink", "NONE NVLINK PCIE")
"""The slowest hop of the best ring through the GPUs of a launch."""
NcclTransport = StrEnum("NcclTransport", "NONE P2P SHM NET NET_IB NET_SOCKET")
"""The slowest transport that NCCL said it took; `net`: a network of a plugin."""

LateBy = StrEnum("LateBy", "NONE BUCKETS BLOCKS STEPS")
"""By what it was seen which rank is late: timestamps of gradient buckets, blocks of steps without synchronisation,
or the time that steps take outside of the backward pass."""

Wrapper = StrEnum("Wrapper", "NONE DDP FSDP")
"""What is around the model."""

AccuracyKept = StrEnum("AccuracyKept", "NONE EQUIVALENT LOWER HIGHER NOT_SHOWN")
"""What the test of equivalence shows of two accuracies."""

OverheadModel = StrEnum("OverheadModel", "NONE LAWS LAWS_ALIKE AS_MEASURED BUCKET_PIPELINE")
"""How a forecast has the overhead of a step at a scale or a batch that was not measured."""

Refused = StrEnum(
    "Refused",
    "NONE BASE_NOT_MEASURED BATCH_NOT_DIVISIBLE OTHER_PROTOCOLS SCALE_UNSTEADY ONE_SIZE NO_LAW_FITS NO_STEP_TIME"
    " TOO_FAR NETWORK_NOT_MEASURED OVERHEAD_NEGATIVE POINT_NOT_MEASURED OVERHEAD_NOT_MEASURED POINT_UNSTEADY"
    " BATCH_TOO_LARGE TOO_FEW_SAMPLES ONE_BATCH STEP_DOES_NOT_GROW",
)
"""Why there is no forecast; words/refusals.py has what each says."""

Verdict = StrEnum("Verdict", "HEALTHY AT_TARGET UNDECIDED POOR NEGATIVE_SCALING CONFOUNDED NOT_MEASURED")
"""What is said of a distributed point as a whole."""

Changes = StrEnum("Changes", "NOTHING RANKS OPERATIONS BATCH MODEL MORE_RANKS")
"""What advice changes of a training, in the order in which it is worth trying: nothing but its speed; how many
ranks it has; which operations it is made of; its batch, and so its convergence; the model; ranks that were not
measured."""

Goal = StrEnum("Goal", "THROUGHPUT TIME_TO_ACCURACY COST_PER_SAMPLE")
"""What advice is ranked by: samples a second at a training that stays as it is, progress a second, or device-time
a sample."""

Tried = StrEnum("Tried", "CONFIRMED PARTLY REFUTED UNDECIDED")
"""What came of advice that was tried."""

Unpaid = StrEnum("Unpaid", "NONE NO_TRIAL COST_UNKNOWN NOT_PREDICTED WITHIN_NOISE LENGTH_UNKNOWN NOTHING_SAVED")
"""Why it is not known after how many trainings the cost of trying advice is repaid; `none` where it is known."""

Shows = StrEnum("Shows", "NONE NO_INTERVAL NO_DIFFERENCE FASTER SLOWER HIGHER LOWER")
"""What an interval shows of one study beside another; `no_difference` does not show that there is none."""

Claim = StrEnum("Claim", "BASE TARGET VARIANT")
"""What a point is said to differ from: its base case, the target efficiency, or the first variant beside it."""

NotCompared = StrEnum("NotCompared", "NONE NOT_IN_FIRST ONLY_IN_FIRST OTHER_QUESTION OTHER_PROTOCOL SAME_LAUNCHES")
"""Why a point of a study is not held against that of the first."""

Guarded = StrEnum("Guarded", "WORSE CANNOT_TELL WITHIN")
"""What a guard says of a quantity: beyond its limit, not known, or short of it."""
