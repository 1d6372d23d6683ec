"""What documents say of the cost of trying advice, and of when that is repaid."""

from scalestudy.registry.codes import Unpaid

COST = "Trying it takes {least_device_hours} to {most_device_hours} device-hours."
COST_ALIKE = "Trying it takes {most_device_hours} device-hours."
REPAID = (
    "If the prediction holds, it saves {saved_device_hours} device-hours in each training as long as those of this"
    " study, and is repaid after {trainings} trainings."
)
_UNKNOWN = "The number of trainings until it is repaid is not known:"
UNPAID = {
    Unpaid.NO_TRIAL: "No trial can test it, so its cost is not known.",
    Unpaid.COST_UNKNOWN: "The cost of trying it is not known: no launch has a wall time.",
    Unpaid.NOT_PREDICTED: f"{_UNKNOWN} no gain is predicted.",
    Unpaid.WITHIN_NOISE: f"{_UNKNOWN} the predicted saving is within its noise.",
    Unpaid.LENGTH_UNKNOWN: f"{_UNKNOWN} the length of a training is not known.",
    Unpaid.NOTHING_SAVED: "It is not repaid: the predicted gain saves no device-hours.",
}
"""Why there is no number of trainings, by its code."""
