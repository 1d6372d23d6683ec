"""Why there is no forecast."""

from scalestudy.registry.codes import Refused
from scalestudy.registry.column import Row

REASONS = {
    Refused.NONE: "",
    Refused.BASE_NOT_MEASURED: "the base case was not measured",
    Refused.BATCH_NOT_DIVISIBLE: "a global batch of {global_batch} does not divide among {world_size} ranks",
    Refused.OTHER_PROTOCOLS: "scales were measured by protocols that are not comparable",
    Refused.SCALE_UNSTEADY: "most launches at {refused_scale} were unsteady: no single step time describes them",
    Refused.ONE_SIZE: "one size was measured; how the overhead grows takes two at least",
    Refused.NO_LAW_FITS: "no law foretells the measured scales: their step times jump about",
    Refused.NO_STEP_TIME: "a step of {refused_value:g} s at size {refused_limit:g} is no measurement",
    Refused.TOO_FAR: "{world_size} ranks are {refused_value:g} times the largest size measured; laws part beyond"
    " {refused_limit:g} times",
    Refused.NETWORK_NOT_MEASURED: "no scale with {devices_per_node} devices on each of several nodes was measured:"
    " what the network between nodes costs is not known",
    Refused.OVERHEAD_NEGATIVE: "the laws give no positive step time there: the overhead measured is negative",
    Refused.POINT_NOT_MEASURED: "the point itself was not measured",
    Refused.OVERHEAD_NOT_MEASURED: "one process was not measured at a rank's batch: the overhead is not known",
    Refused.POINT_UNSTEADY: "most launches were unsteady: no single step time describes them",
    Refused.BATCH_TOO_LARGE: "a batch of {refused_value:.0f} is more than {refused_limit:g} times the largest that"
    " one process was measured at",
    Refused.TOO_FEW_SAMPLES: "the data hold {refused_value:.0f} samples, fewer than a global batch of"
    " {global_batch}",
    Refused.ONE_BATCH: "one process was measured at one batch only",
    Refused.STEP_DOES_NOT_GROW: "the step of one process does not grow from batch {refused_value:g} to"
    " {refused_limit:g}: the fixed cost dominates",
}


def no_forecast(row: Row) -> str:
    """The reason, as the end of a sentence; '' where there is a forecast. row: of forecasts.csv."""
    return REASONS[row["refused"]].format_map(row)
