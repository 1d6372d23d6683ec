"""What a column of words may say: codes that the analysis hands over, and that documents have words for.

Every cell has one, `none` where there is nothing to say: an empty cell of a CSV comes back as a number.
"""

from __future__ import annotations

from enum import StrEnum


class Steadiness(StrEnum):
    """Whether one mean describes the steps of a launch after its warm-up."""

    NONE = "none"
    STEADY = "steady"
    LEVEL_CHANGE = "level_change"
    TWO_MODES = "two_modes"


class MemoryKind(StrEnum):
    """Which memory of a rank is meant."""

    NONE = "none"
    ALLOCATED = "allocated"
    RESIDENT = "resident"


class IntervalMethod(StrEnum):
    """How the limits of a speedup were made."""

    NONE = "none"
    WELCH_T = "welch_t"
    HIERARCHICAL_BOOTSTRAP = "hierarchical_bootstrap"


class Stopped(StrEnum):
    """Why a point has as many launches as it has."""

    NONE = "none"
    TARGET_REACHED = "target_reached"
    BUDGET_ENDED = "budget_ended"
    ONE_LAUNCH = "one_launch"


class Methods(StrEnum):
    """What methods of measuring communication say of each other."""

    NONE = "none"
    AGREE = "agree"
    DISAGREE = "disagree"
    NOT_COMPARED_FSDP = "not_compared_fsdp"
    NOT_COMPARED_ONE_ROUND = "not_compared_one_round"


class AccuracyKept(StrEnum):
    """What the test of equivalence shows of two accuracies."""

    NONE = "none"
    EQUIVALENT = "equivalent"
    LOWER = "lower"
    HIGHER = "higher"
    NOT_SHOWN = "not_shown"


class Refused(StrEnum):
    """Why there is no forecast; words/refusals.py has what each says."""

    NONE = "none"
    # Of a scale.
    BASE_NOT_MEASURED = "base_not_measured"
    BATCH_NOT_DIVISIBLE = "batch_not_divisible"
    OTHER_PROTOCOLS = "other_protocols"
    SCALE_UNSTEADY = "scale_unsteady"
    ONE_SIZE = "one_size"
    NO_LAW_FITS = "no_law_fits"
    NO_STEP_TIME = "no_step_time"
    TOO_FAR = "too_far"
    NETWORK_NOT_MEASURED = "network_not_measured"
    OVERHEAD_NEGATIVE = "overhead_negative"
    # Of a batch.
    POINT_NOT_MEASURED = "point_not_measured"
    OVERHEAD_NOT_MEASURED = "overhead_not_measured"
    POINT_UNSTEADY = "point_unsteady"
    BATCH_TOO_LARGE = "batch_too_large"
    TOO_FEW_SAMPLES = "too_few_samples"
    ONE_BATCH = "one_batch"
    STEP_DOES_NOT_GROW = "step_does_not_grow"


class OverheadModel(StrEnum):
    """How a forecast has the overhead of a step at a scale or a batch that was not measured."""

    NONE = "none"
    LAWS = "laws"
    LAWS_ALIKE = "laws_alike"
    AS_MEASURED = "as_measured"
    BUCKET_PIPELINE = "bucket_pipeline"


class Shows(StrEnum):
    """What the interval of a quantity of one study beside that of another shows."""

    NONE = "none"
    NO_INTERVAL = "no_interval"
    NO_DIFFERENCE = "no_difference"
    """It holds the number that stands for no difference; which does not show that there is none."""
    FASTER = "faster"
    SLOWER = "slower"
    HIGHER = "higher"
    LOWER = "lower"


class NotCompared(StrEnum):
    """Why a point of a study is not held against that of the first."""

    NONE = "none"
    NOT_IN_FIRST = "not_in_first"
    ONLY_IN_FIRST = "only_in_first"
    OTHER_QUESTION = "other_question"
    SAME_LAUNCHES = "same_launches"
    OTHER_PROTOCOL = "other_protocol"
    SEVERAL_REASONS = "several_reasons"
    """Of the first study, where the others have not the same one."""


class Verdict(StrEnum):
    """What is said of a distributed point as a whole."""

    HEALTHY = "healthy"
    UNDECIDED = "undecided"
    POOR = "poor"
    NEGATIVE_SCALING = "negative_scaling"
    CONFOUNDED = "confounded"
    NOT_MEASURED = "not_measured"


UNSTEADY = (Steadiness.LEVEL_CHANGE, Steadiness.TWO_MODES)

LAUNCH_ENDS = ("diverged", "failed", "ok", "too_short", "oom", "preempted", "timeout")
"""How a launch may end; `too_short`: at its end, but without steady steps. Columns are `launches_oom` ..."""
