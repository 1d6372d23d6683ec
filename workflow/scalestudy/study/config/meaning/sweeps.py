"""Keys that a sweep and its entry both set: the value of the entry is never used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.meaning.facts import written
from scalestudy.study.config.refusals import shown
from scalestudy.study.config.study import Study
from scalestudy.study.config.sweep import SECTIONS


def set_twice(_: Study, content: Mapping[str, Any]) -> Iterator[str]:
    """A line for each key of an entry that its own sweep overrides."""
    for section in SECTIONS:
        for name, entry in content.get(section, {}).items():
            for key in written(entry, "sweep") or ():
                if (value := written(entry, key)) is not None:
                    yield (
                        f"{section}.{name}.{key}: {shown(value)} has no effect, since the sweep of this key sets"
                        " it in every entry; leave it out"
                    )
