"""Texts about the order of advice, by the goal of the study."""

from scalestudy.registry.codes import Goal

_LAST = "Advice whose predicted interval includes no gain is left out."
ORDER = {
    Goal.THROUGHPUT: "In the order in which they are worth trying: first changes that leave the training the same,"
    " by expected gain; then fewer ranks, other operations, a larger batch, another model, and more ranks."
    f" {_LAST}",
    Goal.TIME_TO_ACCURACY: "By progress per second: samples per second times the worth of a sample at the new"
    f" global batch. Advice of unknown worth comes later. {_LAST}",
    Goal.COST_PER_SAMPLE: "By device-time per sample. Advice of unknown worth comes later, and more ranks come"
    f" last. {_LAST}",
}
"""Above the recommendations."""
WORTH = {
    Goal.TIME_TO_ACCURACY: ", {worth} times the progress per second",
    Goal.COST_PER_SAMPLE: ", {worth} times the samples for the same device-time",
}
"""In the sentence of a prediction, if the worth is not the gain itself."""
