"""Options of DDP that change nothing: the gradients are one bucket in any case, or no network has buffers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf, prod

from scalestudy.study.config.meaning.facts import built_in, scripts
from scalestudy.study.config.models import (
    ConvnetModel,
    HuggingFaceModel,
    LanguageModel,
    MlpModel,
    TextClassifierModel,
)
from scalestudy.study.config.study import Study
from scalestudy.study.config.variants import DdpOptions
from scalestudy.study.config.workloads import Workload

FIRST_MIB = 1.0
"""DDP's first bucket with the default size. The others are larger."""
POOLED = 4
"""Values of a channel after the pooling of a convnet."""


def needless_of_ddp(study: Study) -> Iterator[str]:
    """A line for each size of buckets with which DDP makes one bucket, as with the default size, and for buffers.

    It depends on the sizes of the networks. So it does not apply to a second file that scales a study down.
    """
    if scripts(study):
        return
    yield from _buffers(study)
    largest = max(_gradients_mib(workload) for workload in built_in(study).values())
    for name, variant in study.variants.items():
        size = variant.ddp.bucket_cap_mb
        if size != DdpOptions().bucket_cap_mb and largest < min(size, FIRST_MIB):
            yield (
                f"variants.{name}.ddp.bucket_cap_mb: {size:g} has no effect, since the gradients of the largest"
                f" network have {largest:.2g} MiB, which are one bucket at the default size, too; leave it out, or"
                " use a larger network or smaller buckets"
            )
    sizes = study.tune.bucket_cap_mb if "bucket_cap_mb" in study.tune.given else ()
    ddp = any(variant.strategy == "ddp" for variant in study.variants.values())
    if sizes and ddp and largest < min(*sizes, FIRST_MIB):
        yield (
            f"tune.bucket_cap_mb: [{', '.join(f'{size:g}' for size in sizes)}] has nothing to try, since the"
            f" gradients of the largest network have {largest:.2g} MiB, which are one bucket at each size; leave"
            " it out, or use a larger network or smaller buckets"
        )


def _buffers(study: Study) -> Iterator[str]:
    """A line for each variant that does not send buffers, where no network has any."""
    if any(_may_have_buffers(workload) for workload in built_in(study).values()):
        return
    for name, variant in study.variants.items():
        if not variant.ddp.broadcast_buffers:
            yield (
                f"variants.{name}.ddp.broadcast_buffers: false has no effect, since no network has buffers, such"
                " as the running statistics of batch normalisation; leave it out"
            )


def _may_have_buffers(workload: Workload) -> bool:
    model = workload.model
    return isinstance(model, HuggingFaceModel) or (isinstance(model, ConvnetModel) and model.norm == "batch")


def distinct_sizes(workload: Workload, sizes: Sequence[float]) -> list[float]:
    """Those sizes of buckets, in MiB, with which DDP divides the gradients differently.

    Of several sizes that make one bucket it is the default size if that makes one, else the first one. All sizes
    are distinct where the size of the network is not known.
    """
    whole, default = _gradients_mib(workload), DdpOptions().bucket_cap_mb
    apart = whole >= FIRST_MIB  # the default size makes two buckets or more
    one_bucket = [size for size in sizes if size >= whole and not (apart and size == default)]
    kept = default if default in one_bucket else next(iter(one_bucket), None)
    return [size for size in sizes if size not in one_bucket or size == kept]


def _gradients_mib(workload: Workload) -> float:
    return 4 * _gradients(workload) / 2**20


def _gradients(workload: Workload) -> float:
    """Parameters of a network, with all biases; inf where they are not known."""
    model, data = workload.model, workload.data
    classes = getattr(data, "classes", 0)
    if isinstance(model, MlpModel):
        widths = (prod(data.shape), *model.hidden, classes)
        return float(sum((before + 1) * after for before, after in pairwise(widths)))
    if isinstance(model, ConvnetModel):
        channels = (data.shape[0], *[model.channels] * model.num_layers)
        norms = 2 * model.channels * model.num_layers if model.norm == "batch" else 0
        convolutions = sum((9 * before + 1) * after for before, after in pairwise(channels))
        return float(convolutions + norms + (POOLED * model.channels + 1) * classes)
    if isinstance(model, LanguageModel | TextClassifierModel):
        width, _, layers, feedforward = model.shape
        tables = width * ((data.tokens or 0) + data.shape[0]) + 2 * width + (width + 1) * classes
        return float(layers * (4 * width**2 + 2 * width * feedforward + 9 * width + feedforward) + tables)
    return inf
