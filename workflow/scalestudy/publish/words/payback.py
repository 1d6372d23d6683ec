"""Texts about the cost of trying advice, and the number of trainings that repay it."""

from scalestudy.registry.codes import Unpaid

COST = {
    "hours": "Trying it takes {least_device_hours} to {most_device_hours} device-hours.",
    "s": "Trying it takes {least_device_s} to {most_device_s} device-seconds.",
}
COST_ALIKE = {
    "hours": "Trying it takes {most_device_hours} device-hours.",
    "s": "Trying it takes {most_device_s} device-seconds.",
}
_REPAID = "If the prediction is right, each training as long as those of this study saves"
REPAID = {
    "hours": _REPAID + " {saved_device_hours} device-hours, which repays the trial after {trainings} trainings.",
    "s": _REPAID + " {saved_device_s} device-seconds, which repays the trial after {trainings} trainings.",
}
"""Texts by the unit of their numbers."""
LEAST_HOURS = 0.1
"""A shorter time is printed in seconds."""
_UNKNOWN = "The number of trainings that repay the trial is not known:"
UNPAID = {
    Unpaid.NO_TRIAL: "No trial can test it, so its cost is not known.",
    Unpaid.COST_UNKNOWN: "The cost of trying it is not known: no run has a wall time.",
    Unpaid.NOT_PREDICTED: f"{_UNKNOWN} no gain is predicted.",
    Unpaid.WITHIN_NOISE: f"{_UNKNOWN} the predicted saving is within its noise.",
    Unpaid.LENGTH_UNKNOWN: f"{_UNKNOWN} the length of a training is not known.",
    Unpaid.NOTHING_SAVED: "The trial is not repaid: the predicted gain saves no device-hours.",
}
"""Why there is no number of trainings, by code."""
