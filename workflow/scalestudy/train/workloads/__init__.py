"""The models that a study can name, selected by the `type` of the config entry."""

from collections.abc import Callable

from torch import nn

from scalestudy.study.config.datasets import Data
from scalestudy.study.config.models import Model
from scalestudy.train.workloads.feedforward import build_convnet, build_mlp
from scalestudy.train.workloads.hugging_face import build_hugging_face
from scalestudy.train.workloads.transformer import Decoder, TextClassifier

BUILDERS: dict[str, Callable[..., nn.Module]] = {
    "mlp": build_mlp,
    "convnet": build_convnet,
    "text-classifier": TextClassifier,
    "language-model": Decoder,
    "hugging-face": build_hugging_face,
}


def build_model(model: Model, data: Data) -> nn.Module:
    """Return the network of a workload, initialised from torch's current seed. The data determine its shapes.

    Vectors, images and texts (B, *data.shape) -> logits (B, data.classes); a stream (B, L) -> logits
    (B, L, data.tokens). Raises UserError if a hugging-face model cannot be built as configured.
    """
    return BUILDERS[model.type](model, data)
