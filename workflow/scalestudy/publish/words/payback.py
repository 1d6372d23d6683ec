"""What documents say of the cost of trying advice, and of when that is repaid."""

from scalestudy.registry.codes import Unpaid

COST = "Trying it takes {least_device_hours} to {most_device_hours} device-hours."
COST_ALIKE = "Trying it takes {most_device_hours} device-hours."
REPAID = (
    "It saves {saved_device_hours} device-hours in each training as long as those of this study, if the prediction"
    " holds, so that trying it is repaid after {trainings} trainings."
)
_UNKNOWN = "After how many trainings that is repaid is not known, since"
UNPAID = {
    Unpaid.NO_TRIAL: "No trial can be made of it, so that what trying it takes is not known.",
    Unpaid.COST_UNKNOWN: "What trying it takes is not known, since no launch has a wall time.",
    Unpaid.NOT_PREDICTED: f"{_UNKNOWN} no gain is predicted.",
    Unpaid.WITHIN_NOISE: f"{_UNKNOWN} the predicted saving is within its noise.",
    Unpaid.LENGTH_UNKNOWN: f"{_UNKNOWN} the length of a training is not known.",
    Unpaid.NOTHING_SAVED: "That is not repaid, since the predicted gain saves no device-hours.",
}
"""Why there is no number of trainings, by its code."""
