"""Why there is no forecast."""

from scalestudy.registry.codes import Refused
from scalestudy.registry.column import Row

REASONS = {
    Refused.NONE: "",
    Refused.BASE_NOT_MEASURED: "the baseline was not measured",
    Refused.BASE_OF_SEVERAL: "no run on one device was imported, and the overhead is relative to it",
    Refused.BATCH_NOT_DIVISIBLE: "a global batch of {global_batch} is not divisible by {world_size} ranks",
    Refused.OTHER_PROTOCOLS: "scales were measured with protocols that are not comparable",
    Refused.SCALE_UNSTEADY: "most runs at {refused_scale} were unsteady: no single step time describes them",
    Refused.ONE_SIZE: "only one size was measured; the growth of the overhead needs at least two",
    Refused.NO_LAW_FITS: "no growth model predicts the measured scales: their step times are too irregular",
    Refused.NO_STEP_TIME: "a step time of {refused_value:g} s at size {refused_limit:g} is not valid",
    Refused.TOO_FAR: "{world_size} ranks are {refused_value:g} times the largest measured size; growth models"
    " diverge beyond {refused_limit:g} times",
    Refused.TOO_WIDE: "the limits of the step time would be more than {refused_limit:g} times apart: the measured"
    " overhead is too large or too uncertain to tell how it grows",
    Refused.NETWORK_NOT_MEASURED: "no scale with {devices_per_node} devices on each of several nodes was measured,"
    " so the cost of the network between nodes is not known",
    Refused.OVERHEAD_NEGATIVE: "the growth models that fit best give no positive step time: the measured overhead"
    " is negative",
    Refused.POINT_NOT_MEASURED: "the point itself was not measured",
    Refused.OVERHEAD_NOT_MEASURED: "the overhead is not known, since one process was not measured at the batch per"
    " rank",
    Refused.POINT_UNSTEADY: "most runs were unsteady: no single step time describes them",
    Refused.BATCH_TOO_LARGE: "a batch of {refused_value:.0f} is more than {refused_limit:g} times the largest"
    " batch measured on one process",
    Refused.TOO_FEW_SAMPLES: "the data have {refused_value:.0f} samples, fewer than a global batch of"
    " {global_batch}",
    Refused.ONE_BATCH: "one process was measured at only one batch",
    Refused.STEP_DOES_NOT_GROW: "the step of one process does not grow from batch {refused_value:g} to"
    " {refused_limit:g}: the fixed cost dominates",
}


def no_forecast(row: Row) -> str:
    """The reason, as the end of a sentence; '' if there is a forecast. row: a row of forecasts.csv."""
    return REASONS[row["refused"]].format_map(row)
