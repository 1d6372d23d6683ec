"""Keys of a built-in workload that have no effect, and values that leave nothing to train or to validate."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.datasets import Data, DigitsData, Synthetic, SyntheticTokens
from scalestudy.study.config.meaning.facts import OFFICIAL_SAMPLES, built_in, most_ranks, repeated, scripts
from scalestudy.study.config.meaning.sizes import MOST_ON_DEVICE
from scalestudy.study.config.models import LanguageModel
from scalestudy.study.config.refusals import shown
from scalestudy.study.config.study import Study
from scalestudy.study.config.workloads import Workload

RANDOM = "synthetic-"
"""How the types of data begin whose labels are random."""
LEARNED = ("digits", "cifar", "imdb", "ag-news")
"""Types of data with about as many samples of each class."""
LONGEST_TEXT = {"ag-news": 512, "imdb": 4096}
"""Words and punctuation marks: more than any text has. The longest text of `fancyzhx/ag_news` has 1.01 thousand
characters and that of `stanfordnlp/imdb` 13.7 thousand (viewers of these data sets at huggingface.co)."""
BEST_ACCURACY = {"ag-news": 0.97, "cifar": 0.998, "imdb": 0.98}
"""More than published: 0.9555 of AG News and 0.968 of IMDB with XLNet (Yang et al., 2019, arXiv:1906.08237), 0.995
of CIFAR-10 with ViT-H/14 (Dosovitskiy et al., 2021, arXiv:2010.11929)."""
LEAST_TARGET = 0.01
EMPTY = hashlib.sha256().hexdigest()
LEAST_SIZE = "0.05M"


def unused_of_workloads(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each key that has no effect, or that leaves nothing to do."""
    for name, workload in study.workloads.items():
        yield from (f"workloads.{name}.{line}" for line in _scaling(study, workload.scaling))
    for name, built in built_in(study).items():
        for line in [*_accuracy(built), *_model(built), *_data(built)]:
            yield f"workloads.{name}.{line}"
    for name, script in scripts(study).items():
        if script.target_accuracy is not None and script.target_accuracy < LEAST_TARGET:
            yield f"workloads.{name}.{_too_low(script.target_accuracy)}"


def _scaling(study: Study, scaling: tuple[str, ...]) -> Iterator[str]:
    for one in repeated(scaling):
        yield f"scaling: {one} is listed twice; leave out one of them"
    if len(set(scaling)) > 1 and most_ranks(study) == 1:
        yield "scaling: weak and strong are the same on one rank; name one, or add a larger scale"


def _accuracy(workload: Workload) -> Iterator[str]:
    target, data = workload.target_accuracy, workload.data
    if target is None:
        return
    if data.type.startswith(RANDOM):
        yield (
            f"target_accuracy: labels of {data.type} are random, so there is nothing to learn; leave it out, or"
            " use other data"
        )
    elif data.type in LEARNED and target <= (chance := 1 / getattr(data, "classes", 1)):
        yield f"target_accuracy: {target:g} is reached by guessing; use more than {chance:g}"
    elif target < LEAST_TARGET:
        yield _too_low(target)
    elif target > (best := _best(data)):
        yield (
            f"target_accuracy: {target:g} is more than any published network reaches on {data.type}; use"
            f" {best:g} or less, such as 0.8"
        )


def _best(data: Data) -> float:
    """An accuracy that no training exceeds. A folder may have other texts in the same format."""
    if getattr(data, "path", None) is None:
        return BEST_ACCURACY.get(data.type, 1.0)
    return 0.999 if data.type in OFFICIAL_SAMPLES else 1.0


def _too_low(target: float) -> str:
    return (
        f"target_accuracy: {target:g} is less than one sample in a hundred, which the first epoch reaches; it is a"
        f" fraction, so use {LEAST_TARGET:g} or more, such as 0.9"
    )


def _model(workload: Workload) -> Iterator[str]:
    model = workload.model
    if isinstance(model, LanguageModel) and model.parameters and model.too_small:
        yield f"model.parameters: {model.parameters} is not a size; the smallest shape has about {LEAST_SIZE}"


def _data(workload: Workload) -> Iterator[str]:
    data = workload.data
    if isinstance(data, DigitsData) and (held := data.validation_samples) < data.classes:
        yield (
            f"data.validation_fraction: {data.validation_fraction:g} holds out {held or 'none'} of 1797 images,"
            f" which have {data.classes} classes; use 0.01 or more"
        )
    if isinstance(data, SyntheticTokens) and data.classes != 2 and "texts" not in workload.model.takes:
        yield f"data.classes: {data.classes} has no effect with {workload.model.type}; leave it out"
    path = getattr(data, "path", None)
    longest = LONGEST_TEXT.get(data.type) if path is None else None
    if longest is not None and data.shape[0] > longest:
        yield (
            f"data.sequence_length: {data.shape[0]} is more than any text of {data.type} has, so the rest is"
            f" padding; use {longest} or less, or synthetic-tokens"
        )
    if path is not None and not path.strip():
        yield f"data.path: '{path}' names no file; write where the data are"
    elif path is not None and "://" in path:
        yield f"data.path: {shown(path)} is an address; write it as url, with its sha256"
    if getattr(data, "sha256", None) == EMPTY:
        yield "data.sha256: this is the checksum of an empty file; write that of the data"
    files = getattr(data, "files", None)
    if files is not None and files.train.sha256 == files.test.sha256:
        yield "data.files.test: is the same file as train; write the one for validation"
    if isinstance(data, Synthetic) and data.on_device and data.bytes > MOST_ON_DEVICE:
        yield (
            f"data.samples: {data.samples} of shape {'x'.join(map(str, data.shape))} are about"
            f" {data.bytes / 1e12:.0f} TB, more than any device has; use fewer, or on_device: false"
        )
    yield from _samples(workload)


def _samples(workload: Workload) -> Iterator[str]:
    """Numbers of samples that data in files do not have."""
    data, batch = workload.data, workload.batch_size
    most, official = getattr(data, "max_samples", None), OFFICIAL_SAMPLES.get(data.type)
    if most is not None and most < batch:
        yield f"data.max_samples: {most} are fewer than batch_size: {batch}; use that many or more"
    elif most is not None and official is not None and most > official:
        yield (
            f"data.max_samples: {most} has no effect, since {data.type} has {official} training samples; leave it"
            " out"
        )
    elif official is not None and batch > official:
        yield f"batch_size: {batch} is more than the {official} training samples of {data.type}; use fewer"
