"""Codes in columns of words: the analysis returns them, and documents have words for them.

Every cell has a code, `none` if nothing applies: an empty cell of a CSV is read back as a number. A code is
the name of its member in lower case.
"""

from enum import StrEnum

Steadiness = StrEnum("Steadiness", "NONE STEADY LEVEL_CHANGE TWO_MODES")
"""Whether one mean describes the steps of a run after its warm-up."""
UNSTEADY = (Steadiness.LEVEL_CHANGE, Steadiness.TWO_MODES)

LAUNCH_ENDS = ("diverged", "failed", "ok", "too_short", "oom", "preempted", "timeout")
"""Ends of a run; `too_short`: complete, but without steady steps. Columns are `launches_oom` ..."""

MemoryKind = StrEnum("MemoryKind", "NONE ALLOCATED RESIDENT")

IntervalMethod = StrEnum("IntervalMethod", "NONE T_WITHIN_REPEATS HIERARCHICAL_BOOTSTRAP T_WITHIN_LAUNCHES WELCH")
"""Method for the limits of a speedup. WELCH: independent samples, where disturbed runs leave few repeats whole."""

NotAlternated = StrEnum("NotAlternated", "NONE COMMAND PRECISION ENVIRONMENT WORKERS BOOKKEEPING")
"""Why the baseline of a variant is not trained in the processes of its runs. Arithmetic and environment
belong to a process as a whole; a command only trains its own model; workers continue to read; logging and
checkpoints are left out of everything after the training."""

Turns = StrEnum("Turns", "NONE MADE CONTENDED NO_MEMORY")
"""Whether the baseline took turns with a run in its processes, if the study requests it. CONTENDED: other
processes used the cores in every round."""

Spoiled = StrEnum("Spoiled", "NONE UNKNOWN OTHER_LOAD STOLEN_TIME THROTTLED SWAPPED CLOCK_SET SHARED_GPU")
"""Disturbances of the host during a run. UNKNOWN: it was not monitored, as in records of earlier releases."""

Limit = StrEnum("Limit", "NONE IMPORTED AVERAGED WHOLE_RUN PRINTED CLOCK TOKENS ROUNDED BATCH_UNSEEN")
"""What a run cannot show. IMPORTED: no part of a step, no rank, no host. AVERAGED: its step times are means over
several steps. WHOLE_RUN: one mean, start included. PRINTED: a number of a published table. CLOCK: times between
lines of the log. TOKENS: work is counted in tokens. ROUNDED: times have three digits. These are of imported runs.
BATCH_UNSEEN: how many samples a script trains on was not seen."""

Stopped = StrEnum(
    "Stopped",
    "NONE TARGET_REACHED BUDGET_ENDED ONE_LAUNCH DECIDED SPEEDUP_KNOWN LAUNCHES_ENDED HOURS_ENDED SERVES",
)
"""Why a point has no more runs."""

Settled = StrEnum("Settled", "NO DECIDED PRECISE FAILED")
"""Why a comparison needs no more runs: its verdict is decided, its interval is narrow, or its runs fail; `no`
while it needs more."""

Methods = StrEnum("Methods", "NONE AGREE DISAGREE NOT_COMPARED_FSDP NOT_COMPARED_ONE_ROUND")
"""Whether the methods of measuring communication agree."""

SlowestLink = StrEnum("SlowestLink", "NONE NVLINK PCIE")
"""The slowest hop of the best ring through the GPUs of a run."""
NcclTransport = StrEnum("NcclTransport", "NONE P2P SHM NET NET_IB NET_SOCKET")
"""The slowest transport that NCCL reported; `net`: a network of a plugin."""

LateBy = StrEnum("LateBy", "NONE BUCKETS BLOCKS STEPS")
"""The measurement that identified the late rank: timestamps of gradient buckets, blocks of steps without
synchronisation, or the time of steps outside of the backward pass."""

Wrapper = StrEnum("Wrapper", "NONE DDP FSDP")
"""The wrapper of the model."""

AccuracyKept = StrEnum("AccuracyKept", "NONE EQUIVALENT LOWER HIGHER NOT_SHOWN")
"""Result of the equivalence test of two accuracies."""

OverheadModel = StrEnum("OverheadModel", "NONE LAWS LAWS_ALIKE AS_MEASURED BUCKET_PIPELINE")
"""How a forecast extrapolates the overhead of a step to a scale or a batch that was not measured."""

Refused = StrEnum(
    "Refused",
    "NONE BASE_NOT_MEASURED BASE_OF_SEVERAL BATCH_NOT_DIVISIBLE OTHER_PROTOCOLS SCALE_UNSTEADY ONE_SIZE"
    " NO_LAW_FITS NO_STEP_TIME TOO_FAR TOO_WIDE NETWORK_NOT_MEASURED OVERHEAD_NEGATIVE POINT_NOT_MEASURED"
    " OVERHEAD_NOT_MEASURED POINT_UNSTEADY"
    " BATCH_TOO_LARGE TOO_FEW_SAMPLES ONE_BATCH STEP_DOES_NOT_GROW",
)
"""Why there is no forecast; words/refusals.py has the texts."""

Verdict = StrEnum("Verdict", "HEALTHY AT_TARGET UNDECIDED POOR NEGATIVE_SCALING CONFOUNDED NOT_MEASURED")
"""Verdicts on a distributed point."""

Changes = StrEnum("Changes", "NOTHING RANKS OPERATIONS BATCH MODEL MORE_RANKS")
"""What a piece of advice changes in a training, in the order in which it is worth trying: only its speed; its
number of ranks; its operations; its batch, and so its convergence; the model; a number of ranks that was not
measured."""

Goal = StrEnum("Goal", "THROUGHPUT TIME_TO_ACCURACY COST_PER_SAMPLE")
"""Criterion for ranking advice: samples per second of an unchanged training, progress per second, or device-time
per sample."""

Tried = StrEnum("Tried", "CONFIRMED PARTLY REFUTED UNDECIDED")
"""Outcome of tried advice."""

Unpaid = StrEnum("Unpaid", "NONE NO_TRIAL COST_UNKNOWN NOT_PREDICTED WITHIN_NOISE LENGTH_UNKNOWN NOTHING_SAVED")
"""Why the number of trainings that repays the cost of trying advice is unknown; `none` if it is known."""

Shows = StrEnum("Shows", "NONE NO_INTERVAL NO_DIFFERENCE FASTER SLOWER HIGHER LOWER")
"""What an interval shows about two studies; `no_difference`: no significant difference was found."""

Claim = StrEnum("Claim", "BASE TARGET VARIANT")
"""Reference of a claimed difference: baseline, target efficiency, or the first variant at the same place."""

NotCompared = StrEnum("NotCompared", "NONE NOT_IN_FIRST ONLY_IN_FIRST OTHER_QUESTION OTHER_PROTOCOL SAME_LAUNCHES")
"""Why a point of a study is not compared with the first study's."""

Guarded = StrEnum("Guarded", "WORSE CANNOT_TELL WITHIN")
"""Result of a guard for a quantity: beyond its limit, not known, or within it."""
