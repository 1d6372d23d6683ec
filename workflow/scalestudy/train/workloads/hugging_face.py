"""Models of the transformers library, built from a configuration only, without files or network access.

transformers silently stores an unknown setting as an additional attribute. A mistyped `num_hiden_layers` would
train the default size, so every setting is checked first.
"""

import difflib
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from scalestudy.errors import UserError
from scalestudy.study.config.datasets import Data
from scalestudy.study.config.hugging_face import DECIDED, LENGTHS, origin_of
from scalestudy.study.config.models import HuggingFaceModel
from scalestudy.train.workloads.transformer import PADDING

KEY = "workloads.model"
NOT_CAUSAL = frozenset({"cpmant", "xlm", "xlnet"})
"""Architectures with a next-token head that, called as here, see the token that they must predict."""


class LogitsOnly(nn.Module):
    """A Hugging Face model with the interface of the other models."""

    def __init__(self, model: nn.Module, *, padded: bool) -> None:
        super().__init__()
        self.model, self.padded = model, padded

    def forward(self, inputs: Tensor) -> Tensor:
        """Map tokens (B, L), integers, to logits: (B, classes) for texts, (B, L, vocabulary) for a stream."""
        mask = (inputs != PADDING).long() if self.padded else None
        logits: Tensor = self.model(input_ids=inputs, attention_mask=mask).logits
        return logits


def build_hugging_face(config: HuggingFaceModel, data: Data) -> nn.Module:
    """Return the model of a config entry, with the random initialisation of its architecture.

    Raises UserError if transformers is missing, does not have the architecture for this task, does not have a
    setting, or cannot build a model from the settings.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"  # before the import, so that no setting can cause a download
    try:
        import transformers
        from transformers.models.auto import modeling_auto
    except ImportError:
        raise UserError(
            f"{KEY}.type: hugging-face needs the transformers library: pip install 'scalestudy[huggingface]'"
        ) from None
    texts = config.task == "classify"
    if texts:
        auto = transformers.AutoModelForSequenceClassification
        names = modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES
    else:
        auto = transformers.AutoModelForCausalLM
        names = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.keys() - NOT_CAUSAL
    default = _default_of(config, transformers, names)
    _check_settings(config, default)
    settings = config.settings | _decided(config, data, default)
    with _refusals(f"{KEY}.settings", config):
        model = auto.from_config(transformers.AutoConfig.for_model(config.architecture, **settings))
    _check_positions(model, data)
    return LogitsOnly(model, padded=texts)


def _default_of(config: HuggingFaceModel, transformers: Any, names: Collection[str]) -> Any:
    """Return the default configuration of an architecture."""
    name = config.architecture
    if name not in transformers.CONFIG_MAPPING:
        raise UserError(f"{KEY}.architecture: transformers does not have {name!r}{_near(name, names)}")
    with _refusals(f"{KEY}.architecture", config):
        default = transformers.AutoConfig.for_model(name)
    # A configuration composed of parts for text and images has the vocabulary in a part, and does not take only
    # text.
    takes_text = name in names and hasattr(default, "vocab_size")
    if not takes_text or (config.task == "classify" and default.is_encoder_decoder):
        raise UserError(
            f"{KEY}.architecture: {name} cannot be trained with task: {config.task}{_near(name, names, but=name)}"
        )
    return default


@contextmanager
def _refusals(key: str, config: HuggingFaceModel) -> Iterator[None]:
    """Turn the exceptions of transformers, which are of many types, into a UserError for this key."""
    try:
        yield
    except RuntimeError:  # from torch, for example out of memory: not caused by a wrong setting
        raise
    except Exception as error:
        message = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise UserError(f"{key}: transformers cannot build this {config.architecture}: {message}") from error


def _check_settings(config: HuggingFaceModel, default: Any) -> None:
    """Raise UserError for a setting that would be ignored, or that follows from other keys."""
    known = {name for name in default.to_dict() if not name.startswith("_")} - {"transformers_version"}
    known |= set(default.attribute_map) | {"attn_implementation"}  # aliases; and a setting that is not stored
    for name in config.settings:
        if origin := origin_of(name):
            raise UserError(f"{KEY}.settings.{name}: follows from the {origin}; leave it out")
        if name not in known:
            near = _near(name, known - DECIDED.keys())
            raise UserError(f"{KEY}.settings.{name}: {config.architecture} has no such setting{near}")


def _decided(config: HuggingFaceModel, data: Data, default: Any) -> dict[str, Any]:
    """Return the settings that follow from other keys."""
    texts, length = config.task == "classify", data.shape[0]
    decided: dict[str, Any] = {"vocab_size": data.tokens}
    # Special tokens of a tokenizer may be outside this vocabulary, so they are replaced. A stream gets a pad token
    # only if the architecture requires one, since the embedding of a pad token would not be trained.
    marks = [name for name in default.to_dict() if name.endswith("_token_id")]
    decided |= {name: PADDING for name in marks if getattr(default, name) is not None}
    if texts:
        decided |= {"num_labels": data.classes, "pad_token_id": PADDING}
    elif hasattr(default, "is_decoder"):
        decided["is_decoder"] = True  # otherwise BERT and similar models see the tokens that they must predict
    if hasattr(default, "use_cache"):
        decided["use_cache"] = False
    for name in LENGTHS:
        least = getattr(default, name, None)
        if name in default.to_dict() and isinstance(least, int) and least > 0:
            aliases = {name} | {alias for alias, meant in default.attribute_map.items() if meant == name}
            asked = [config.settings[alias] for alias in aliases & config.settings.keys()]
            if not asked:
                decided[name] = max(least, length)
            elif isinstance(asked[0], int) and asked[0] < length:
                raise UserError(
                    f"{KEY}.settings.{name}: {asked[0]} positions are too few for data.sequence_length: {length}"
                )
    return decided


def _check_positions(model: Any, data: Data) -> None:
    """Raise UserError if there are too few positions.

    RoBERTa and similar models number positions from `padding_idx` + 1 and so need more of them.
    """
    words = model.get_input_embeddings()
    for module in model.modules():
        if isinstance(module, nn.Embedding) and module is not words and module.padding_idx is not None:
            positions, needed = module.num_embeddings, data.shape[0] + 1 + module.padding_idx
            if data.shape[0] <= positions < needed:
                raise UserError(
                    f"{KEY}.settings.max_position_embeddings: {needed} positions are needed for"
                    f" data.sequence_length: {data.shape[0]}, since this architecture keeps the first for padding"
                )


def _near(name: str, names: Iterable[str], *, but: str | None = None) -> str:
    """Return '; did you mean X or Y?', or ''."""
    near = [found for found in difflib.get_close_matches(name, names, n=4) if found != but][:3]
    return f"; did you mean {' or '.join(near)}?" if near else ""
