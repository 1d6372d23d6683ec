"""Architectures and settings that transformers does not have.

They are looked up in the text of the installed package. Its import takes longer than a study may take to be read.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scalestudy.study.config.datasets import Data
from scalestudy.study.config.hugging_face import LENGTHS, origin_of
from scalestudy.study.config.meaning.facts import built_in
from scalestudy.study.config.models import HuggingFaceModel
from scalestudy.study.config.refusals import shown
from scalestudy.study.config.study import Study

MAPPINGS = ("models/auto/configuration_auto.py", "models/auto/auto_mappings.py")
TABLES = {
    "classify": "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES",
    "next-token": "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
}
"""Task -> the table of the architectures that have a head for it."""
SHARES = ("dropout", "pdrop", "dropout_prob", "dropout_rate")
COUNTS = re.compile(r"(^|_)(layers?|heads?|embd|hidden_size|d_model)$")
"""Names of settings that count parts or widths of a network, of which there is at least one."""


def wrong_of_hugging_face(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each architecture or setting that no run can build."""
    for name, workload in built_in(study).items():
        if isinstance(workload.model, HuggingFaceModel):
            for line in _wrong(workload.model, workload.data):
                yield f"workloads.{name}.model.{line}"


def _wrong(model: HuggingFaceModel, data: Data) -> Iterator[str]:
    architecture, installed = model.architecture, _Installed(model.architecture)
    if near := installed.unknown:
        yield f"architecture: transformers has no {shown(architecture)}; {near}"
        return
    if not installed.does(model.task):
        yield f"architecture: {architecture} cannot be trained with task: {model.task}; use gpt2, for instance"
        return
    for name, value in model.settings.items():
        if origin := origin_of(name):
            yield f"settings.{name}: follows from the {origin}; leave it out"
        elif installed.lacks(name):
            yield f"settings.{name}: {architecture} has no such setting{installed.near(name)}"
        elif installed.is_whole(name) and not (isinstance(value, int) and not isinstance(value, bool)):
            yield f"settings.{name}: a whole number is expected, not {shown(value)}"
        elif isinstance(value, int | float) and value < 1 and COUNTS.search(name):
            yield f"settings.{name}: 1 or more is expected, not {shown(value)}"
        elif isinstance(value, int | float) and not 0 <= value < 1 and name.endswith(SHARES):
            yield f"settings.{name}: a number from 0 to below 1 is expected, not {shown(value)}"
        elif name in LENGTHS and isinstance(value, int) and 0 < value < data.shape[0]:
            yield f"settings.{name}: {value} positions are too few for data.sequence_length: {data.shape[0]}"


class _Installed:
    """What the installed transformers says about an architecture; it knows nothing where there is none."""

    def __init__(self, architecture: str) -> None:
        spec = find_spec("transformers")
        self._folder = Path(spec.origin).parent if spec and spec.origin else None
        self._architecture = architecture

    @cached_property
    def _names(self) -> set[str]:
        """Names of all architectures, and of other things; empty if they are not known."""
        return set(re.findall(r"[\"']([a-z0-9_.-]+)[\"']", "".join(map(self._text, MAPPINGS))))

    @property
    def unknown(self) -> str:
        """What would be right if there is no such architecture; '' if there is one, or that is not known."""
        if not self._names or self._architecture in self._names:
            return ""
        near = difflib.get_close_matches(self._architecture.split("/")[-1].lower(), self._names, n=1)
        return f"did you mean {near[0]}?" if near else "its names are like bert, gpt2 and llama"

    def does(self, task: str) -> bool:
        """Whether the architecture has a head for a task, or that is not known."""
        _, _, table = self._text("models/auto/modeling_auto.py").partition(f"\n{TABLES[task]} = ")
        names = re.findall(r"\(\s*\"([a-z0-9_.-]+)\"", table.partition("\n)")[0])
        return not names or self._architecture in names

    def lacks(self, setting: str) -> bool:
        """Whether no configuration that this architecture is made of has a setting of this name."""
        return bool(self._own) and not _is_set(self._own + self._text("configuration_utils.py"), setting)

    def is_whole(self, setting: str) -> bool:
        """Whether the default of a setting is a whole number."""
        return re.search(rf"\b{re.escape(setting)}(: *int)? *= *\d+\b(?!\.)", self._own) is not None

    def near(self, setting: str) -> str:
        """'; did you mean n_layer?', or ''."""
        known = {name for name in re.findall(r"\b([a-z]\w+)\b *[:=]", self._own) if not origin_of(name)}
        near = difflib.get_close_matches(setting, known, n=1)
        return f"; did you mean {near[0]}?" if near else ""

    @cached_property
    def _own(self) -> str:
        """Text of its configuration; '' if it is not known, or if it is derived from that of another one."""
        place = f"models/{self._architecture.replace('-', '_')}"
        text = self._text(f"{place}/configuration_{self._architecture.replace('-', '_')}.py")
        return "" if re.search(r"^from \.\.\w", text, re.MULTILINE) else text

    def _text(self, file: str) -> str:
        try:
            return (self._folder / file).read_text(encoding="utf-8") if self._folder else ""
        except OSError:
            return ""


def _is_set(text: str, setting: str) -> bool:
    name = re.escape(setting)
    return re.search(rf"\b{name}\b *[:=]|[\"']{name}[\"']", text) is not None or setting == "attn_implementation"
