"""Two or three changes of a ready study, as a person in a hurry makes them.

`python tests/hasty_changes.py SEED COUNT` prints studies that are accepted after them, as JSON lines, to be read.
"""

from __future__ import annotations

import copy
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import yaml
from hasty_values import OF_DISTRIBUTED, OF_STUDY, OF_VARIANTS, OF_WORKLOADS, UNITS
from scalestudy.errors import UserError
from scalestudy.study.config.load import load_study
from scalestudy.study.plan import make_plan

Content = dict[str, Any]
Change = Callable[[Random, Content, list[Content]], str]
"""Changes a study in place, given all ready studies; returns what was done, or '' if this cannot be done here."""
ROOT = Path(__file__).resolve().parent.parent
BLOCKS = ("variants", "workloads")


def ready_studies() -> dict[str, Content]:
    """All studies that come with the program, in both sizes."""
    found = {}
    for file in sorted((ROOT / "config/studies").glob("*.yaml")):
        found[file.name] = _read(file)
        if (small := file.parent / "cpu-small" / file.name).exists():
            found[f"small {file.name}"] = merged(_read(file), _read(small))
    for file in sorted((ROOT / "examples").glob("*/study.yaml")):
        found[file.parent.name] = _read(file)
    return found


def _read(file: Path) -> Content:
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def merged(study: Content, over: Content) -> Content:
    """A study with the keys of another one over its own, as several `--study` options are read."""
    found = copy.deepcopy(study)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(found.get(key), dict)
        found[key] = merged(found[key], value) if both else copy.deepcopy(value)
    return found


def hasty(choice: Random, base: Content, ready: list[Content]) -> tuple[list[str], Content]:
    """Return what was changed, and the study."""
    study, done = copy.deepcopy(base), []
    wanted = choice.choice([2, 2, 3])
    for _ in range(20):
        change = choice.choices(list(CHANGES), weights=list(CHANGES.values()))[0]
        if said := change(choice, study, ready):
            done.append(said)
        if len(done) == wanted:
            break
    return done, study


def another_value(choice: Random, study: Content, _: list[Content]) -> str:
    """A value that comes to mind for a key."""
    kind = choice.choices(["study", "variant", "distributed", "workload"], weights=[4, 2, 2, 3])[0]
    if kind == "study":
        path, values = choice.choice(list(OF_STUDY.items()))
        keys = path.split(".")
    else:
        table = {"variant": OF_VARIANTS, "distributed": OF_DISTRIBUTED, "workload": OF_WORKLOADS}[kind]
        section = "workloads" if kind == "workload" else "variants"
        entries = study[section].items()
        names = [name for name, one in entries if kind != "distributed" or one.get("strategy") != "single"]
        if not names:
            return ""
        path, values = choice.choice(list(table.items()))
        keys = [section, choice.choice(names), *path.split(".")]
    now = value_at(study, keys)
    others = [one for one in values if one != now]
    return _set(study, keys, choice.choice(others)) if others else ""


def another_unit(choice: Random, study: Content, _: list[Content]) -> str:
    """A number in another unit than that of its key."""
    keys = choice.choice([keys for keys in _leaves(study) if keys[-1] in UNITS] or [[]])
    now = value_at(study, keys) if keys else None
    if not isinstance(now, int | float) or isinstance(now, bool):
        return ""
    number = now * choice.choice(UNITS[keys[-1]])
    return _set(study, keys, int(number) if number == int(number) else float(f"{number:.3g}"))


def copied_block(choice: Random, study: Content, ready: list[Content]) -> str:
    """A variant or workload copied under another name, and one of its values changed."""
    section = choice.choice(BLOCKS)
    name = choice.choice(list(study[section]))
    other = f"{name}-{choice.choice(['2', 'new', 'test', 'large'])}"
    if other in study[section]:
        return ""
    study[section][other] = copy.deepcopy(study[section][name])
    alone = study | {section: {other: study[section][other]}, BLOCKS[section == BLOCKS[0]]: {}}
    tables = OF_WORKLOADS if section == "workloads" else OF_VARIANTS | OF_DISTRIBUTED
    path, values = choice.choice(list(tables.items()))
    edited = _set(alone, [section, other, *path.split(".")], choice.choice(values))
    return f"{section}.{name} copied to {other}; {edited}"


def other_way_round(choice: Random, study: Content, _: list[Content]) -> str:
    """Nodes and devices of a node exchanged, or ranks taken for nodes."""
    keys = choice.choice([["scales"], ["scales"], ["report", "forecast_scales"]])
    scales = value_at(study, keys)
    if not scales:
        return ""
    at = choice.randrange(len(scales))
    nodes, devices = str(scales[at]).split("x")
    made = choice.choice([f"{devices}x{nodes}", f"{devices}x{devices}", f"1x{int(devices) * 2}"])
    return _set(study, keys, [*scales[:at], made, *scales[at + 1 :]])


def renamed(choice: Random, study: Content, _: list[Content]) -> str:
    """Another name of a variant or workload, which other keys may still use."""
    section = choice.choice(BLOCKS)
    name = choice.choice(list(study[section]))
    study[section] = {f"{key}-v2" if key == name else key: one for key, one in study[section].items()}
    return f"{section}.{name} renamed to {name}-v2"


def left_out(choice: Random, study: Content, _: list[Content]) -> str:
    """A key or a block is missing."""
    keys = choice.choice([keys for keys in _leaves(study) if keys[0] not in ("study", "description")])
    keys = keys[: choice.randint(max(1, len(keys) - 2), len(keys))]
    node = value_at(study, keys[:-1])
    if not isinstance(node, dict) or keys[-1] not in node:
        return ""
    if keys[0] in BLOCKS and (len(keys) == 1 or len(study[keys[0]]) == len(keys) - 1 == 1):
        return ""
    return f"{'.'.join(keys)}: {json.dumps(node.pop(keys[-1]))} left out"


def pasted(choice: Random, study: Content, ready: list[Content]) -> str:
    """A section, or a part of a workload or variant, from another ready study."""
    other = choice.choice(ready)
    if choice.random() < 0.5:
        sections = [key for key in ("measure", "report", "host", "verify", "tune", "scales") if key in other]
        if not sections:
            return ""
        key = choice.choice(sections)
        return _set(study, [key], copy.deepcopy(other[key]))
    section = choice.choice(BLOCKS)
    name, source = choice.choice(list(study[section])), choice.choice(list(other[section].values()))
    parts = [key for key in ("model", "data", "optimizer", "input", "ddp", "fsdp", "scaling") if key in source]
    if not parts:
        return ""
    key = choice.choice(parts)
    return _set(study, [section, name, key], copy.deepcopy(source[key]))


def batch_of_a_rank(choice: Random, study: Content, _: list[Content]) -> str:
    """The batch of a rank taken for the global one, or the reverse."""
    name = choice.choice(list(study["workloads"]))
    keys, factor = ["workloads", name, "batch_size"], choice.choice([2, 4, 8, 0.5, 0.25])
    now = value_at(study, keys)
    if not isinstance(now, int) or now * factor < 1:
        return ""
    return _set(study, keys, int(now * factor))


def one_side(choice: Random, study: Content, _: list[Content]) -> str:
    """A key of one variant, given to another one, or taken from it."""
    names = list(study["variants"])
    if len(names) < 2:
        return ""
    one, other = choice.sample(names, 2)
    keys = [key for key in study["variants"][one] if key not in ("strategy", "base", "ddp", "fsdp", "sweep")]
    if not keys:
        return ""
    key = choice.choice(keys)
    return _set(study, ["variants", other, key], copy.deepcopy(study["variants"][one][key]))


CHANGES: dict[Change, int] = {
    another_value: 8,
    another_unit: 3,
    copied_block: 3,
    other_way_round: 2,
    renamed: 1,
    left_out: 2,
    pasted: 3,
    batch_of_a_rank: 1,
    one_side: 2,
}
"""Change -> how often it is made."""


def _leaves(node: Any, keys: tuple[str, ...] = ()) -> list[list[str]]:
    if not isinstance(node, dict):
        return [list(keys)]
    return [found for key, value in node.items() for found in _leaves(value, (*keys, str(key)))]


def value_at(study: Content, keys: list[str]) -> Any:
    """The value at a key of a study; None where it has none."""
    node: Any = study
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return node


def _set(study: Content, keys: list[str], value: Any) -> str:
    before, node = value_at(study, keys), study
    for key in keys[:-1]:
        node = node.setdefault(key, {})
        if not isinstance(node, dict):
            return ""
    if before == value:
        return ""
    node[keys[-1]] = copy.deepcopy(value)
    return f"{'.'.join(keys)}: {json.dumps(before)} -> {json.dumps(value)}"


def accepted(seed: int, count: int) -> tuple[list[tuple[str, list[str], Content]], int]:
    """Return (ready study, changes, study) of this many studies that are accepted, and how many were made."""
    choice, ready = Random(seed), ready_studies()
    found: dict[str, tuple[str, list[str], Content]] = {}
    made = 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "study.yaml"
        while len(found) < count:
            name = choice.choice(list(ready))
            changes, study = hasty(choice, ready[name], list(ready.values()))
            file.write_text(yaml.safe_dump(study, sort_keys=False), encoding="utf-8")
            made += 1
            try:
                make_plan(load_study(file))
            except UserError:
                continue
            found.setdefault(json.dumps(study, sort_keys=True), (name, changes, study))
    return list(found.values()), made


if __name__ == "__main__":
    studies, tried = accepted(int(sys.argv[1]), int(sys.argv[2]))
    for line in studies:
        print(json.dumps(line))
    print(f"{len(studies)} of {tried} were accepted", file=sys.stderr)
