"""What documents say of the order of advice, by what the study is to reach."""

from scalestudy.registry.codes import Goal

_LAST = "Advice that may bring nothing, by its own limits, is not given."
ORDER = {
    Goal.THROUGHPUT: "In the order in which they are worth trying: first what leaves the training as it is, by"
    f" expected gain; then fewer ranks, other operations, a larger batch, another model, more ranks. {_LAST}",
    Goal.TIME_TO_ACCURACY: "By progress a second: samples a second, each by what it is worth at the global batch"
    f" of then. Advice of which that is not known comes later. {_LAST}",
    Goal.COST_PER_SAMPLE: "By device-time a sample. Advice of which that is not known comes later, and more ranks"
    f" come last. {_LAST}",
}
"""Above the recommendations."""
WORTH = {
    Goal.TIME_TO_ACCURACY: ", {worth} times the progress a second",
    Goal.COST_PER_SAMPLE: ", {worth} times the samples of the same device-time",
}
"""In the sentence of a prediction, where that is not the gain itself."""
