"""Malformed studies, each with the error that was put into it."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import yaml
from hasty_studies import HASTY
from hypothesis import strategies as st
from kinds_of_nonsense import KINDS
from meaningless_studies import MEANINGLESS
from study_grammar import Content, Path, Site, sites, studies

NUMBERS = ("integer", "number")


@dataclass(frozen=True)
class Malformed:
    """The bytes of a study file, and texts that the error must contain, such as key paths."""

    kind: str
    data: bytes
    expected: tuple[str, ...]


def placed(study: Content, path: Path, value: Any) -> Content:
    """Return the study with a value at a path."""
    study = deepcopy(study)
    node = study
    for key in path[:-1]:
        node = node.setdefault(key, {})
    node[path[-1]] = value
    return study


def written(study: Content) -> bytes:
    """Return the study as YAML; as JSON if YAML cannot write one of its texts."""
    return json.dumps(study, allow_nan=True).replace("Infinity", ".inf").replace("NaN", ".nan").encode()


def of_another_type(site: Site) -> list[Any]:
    """Draw values that are not of the type of a key."""
    texts = ["word", "", "12", "1e5", "true", "null", "ü"]
    values: dict[str, list[Any]] = {
        "integer": [True, False, "3", "x", 1.5, [], [1], {}, {"a": 1}, "1e3", ""],
        "number": [True, False, "0.1", "x", [], {}, "1e3x", "nan"],
        "boolean": [0, 1, "yes", "true", "off", [], {}, 2.5],
        "string": [True, 3, 1.5, [], {}, ["a"]],
        "array": [*texts, 3, True, {}, {"a": 1}],
        "object": [*texts, 3, True, ["a"]],
        "mapping": [*texts, 3, True, ["a"]],
    }
    if site.path[-1] in ("arguments", "command"):  # a text is valid too, as a shell command
        return [3, True, {}, {"a": 1}]
    if "const" in site.schema or "enum" in site.schema:
        return [True, 3, [], {}, "", "nope", "SINGLE", " "]
    return values.get(site.kind, [])


def out_of_bounds(site: Site) -> list[Any]:
    """Draw numbers that a key does not accept."""
    s = site.schema
    found: list[Any] = []
    if site.kind in NUMBERS:
        found += [10**12, 10**30, -(10**12)] if site.path[-1] != "seed" else [2**53, -1]
        found += [float("inf"), float("-inf"), float("nan")]
        found += [s["minimum"] - 1] if "minimum" in s else []
        found += [s["exclusiveMinimum"], s["exclusiveMinimum"] - 0.5] if "exclusiveMinimum" in s else []
        found += [s["maximum"] + 1] if "maximum" in s else []
        found += [s["exclusiveMaximum"], s["exclusiveMaximum"] + 1] if "exclusiveMaximum" in s else []
    return found


def misspelt(draw: st.DrawFn, name: str) -> str:
    """Draw a misspelt key: with a letter added, removed, or two letters swapped."""
    at = draw(st.integers(0, len(name) - 1))
    slips = [name[:at] + name[at] + name[at:], name[:at] + name[at + 1 :], name + "s", name.upper(), name + "_ms"]
    return draw(st.sampled_from(slips)) or "x"


@st.composite
def wrong_values(draw: st.DrawFn) -> Malformed:
    """Draw one to three keys with values of another type or out of bounds; the error must name all of them."""
    study = draw(studies())
    chosen: list[Site] = []
    free = [site for site in sites(study) if of_another_type(site) and site.path != ("workloads",)]
    for _ in range(draw(st.integers(1, 3))):
        site = draw(st.sampled_from(free))
        if not any(
            one.path[: len(site.path)] == site.path or site.path[: len(one.path)] == one.path for one in chosen
        ):
            chosen.append(site)
    for site in chosen:
        values = draw(st.sampled_from([of_another_type(site), out_of_bounds(site) or of_another_type(site)]))
        study = placed(study, site.path, draw(st.sampled_from(values)))
    tags = [site for site in chosen if site.path[-1] in ("type", "command")]  # the keys next to it have no model
    expected = tuple(site.dotted.removesuffix(".type") for site in (tags or chosen)[: 1 if tags else None])
    return Malformed("wrong value", written(study), expected)


@st.composite
def wrong_keys(draw: st.DrawFn) -> Malformed:
    """Draw a misspelt or missing key."""
    study = draw(studies())
    found = sites(study)
    if draw(st.booleans()):
        site = draw(st.sampled_from([one for one in found if one.path[-1] not in ("type", "command")]))
        known = {one.path[-1] for one in found} | {"sweep"}
        name = misspelt(draw, site.path[-1])
        if name in known:
            name += "_x"
        return Malformed("unknown key", written(placed(study, (*site.path[:-1], name), 1)), (name,))
    site = draw(st.sampled_from([one for one in found if one.required and one.given]))
    node = study = deepcopy(study)
    for key in site.path[:-1]:
        node = node[key]
    del node[site.path[-1]]
    return Malformed("missing key", written(study), (site.path[-1], "missing"))


def _first(study: Content, part: str) -> str:
    return next(iter(study[part]))


CONTRADICTIONS: dict[str, Any] = {
    "more warm-up than steps may be dropped": (("measure",), {"warmup_steps": 60}, "measure.warmup_steps"),
    "fewer steps than are needed": (("measure",), {"min_steps": 300, "max_steps": 100}, "measure.min_steps"),
    "a warm-up longer than the launch": (
        ("measure",),
        {"warmup_steps": 5000, "max_warmup_steps": 6000, "max_steps": 100},
        "warmup_steps",
    ),
    "fewer repeats at most": (("max_repeats",), 1, "max_repeats"),
    "a target without epochs": (("workloads", "*", "target_accuracy"), 0.9, "target_accuracy"),
    "a base that is not there": (("variants", "x"), {"strategy": "ddp", "base": "nope"}, "variants.x.base"),
    "a name with an equals sign": (("host", "environment"), {"A=B": "1"}, "host.environment.A=B"),
    "a NUL": (("host", "environment"), {"A": "x\0y"}, "host.environment.A"),
    "a name with a NUL": (("host", "environment"), {"A\0": "x"}, "host.environment"),
    "a name with a space": (("host", "environment"), {"A B": "x"}, "host.environment.A B"),
    "no name": (("host", "environment"), {"": "x"}, "host.environment"),
    "a number in the environment": (("host", "environment"), {"A": 3}, "host.environment.A"),
    "another strategy's options": (
        ("variants", "x"),
        {"strategy": "fsdp", "ddp": {"bucket_cap_mb": 3}, "base": "single"},
        "ddp.bucket_cap_mb",
    ),
    "fp16 with fsdp": (
        ("variants", "x"),
        {"strategy": "fsdp", "precision": "fp16", "base": "single"},
        "precision",
    ),
    "workers without a loader": (("variants", "x"), {"strategy": "single", "input": {"workers": 3}}, "workers"),
    "a scale twice": (("scales",), ["1x2", "1x2"], "scales"),
    "no scales": (("scales",), [], "scales"),
    "a scale of nothing": (("scales",), ["0x2"], "scales.0"),
    "a scale of too many": (("scales",), ["1x100000"], "scales.0"),
    "a budget that nothing heeds": (
        ("measure",),
        {"until": "precise", "budget_device_hours": 3},
        "measure.budget_device_hours",
    ),
    "a gain of nothing": (
        ("measure",),
        {"gains": [{"before": {"workload": "q", "variant": "q"}, "after": {"workload": "q", "variant": "q"}}]},
        "measure.gains.0",
    ),
    "trials without a budget": (("verify",), {"mode": "auto"}, "verify.budget_device_hours"),
    "no such key to tune": (("tune",), {"hold": ["nope"]}, "tune.hold"),
    "launches in which nothing alternates": (("measure",), {"speedup_within": "launches"}, "speedup_within"),
    "a network that no machine holds": (
        ("workloads", "*", "model"),
        {"type": "mlp", "hidden_dim": 10**9, "num_layers": 10**9},
        "model",
    ),
    "a batch that no machine holds": (("workloads", "*", "batch_size"), 10**15, "batch_size"),
    "a million loader processes": (
        ("variants", "x"),
        {"strategy": "single", "input": {"loader": "dataloader", "workers": 10**6}},
        "workers",
    ),
    "a limit of two thousand years": (("time_limit_min",), 10**9, "time_limit_min"),
    "an image wider than a continent": (
        ("workloads", "*", "data"),
        {"type": "synthetic-images", "size": 10**8},
        "data.size",
    ),
    "a sweep of no list": (("variants", "single", "sweep"), {"compile": True}, "variants.single.sweep"),
    "a sweep without end": (
        ("variants", "single", "sweep"),
        {f"k{n}": list(range(50)) for n in range(9)},
        "variants.single.sweep",
    ),
    "a script without braces' end": (("workloads", "x"), {"command": "t.py {nope}", "batch_size": 8}, "{nope}"),
    "a half quote": (("workloads", "x"), {"command": 't.py "a', "batch_size": 8}, "workloads.x.command"),
    "no script": (("workloads", "x"), {"command": "rm -rf /", "batch_size": 8}, "workloads.x.command"),
    "a checksum of nothing": (
        ("workloads", "*", "data"),
        {"type": "cifar", "url": "https://x.org/a.zip"},
        "data",
    ),
}


OF_TRANSFORMERS = "workloads.w.model."
EVERY = (MEANINGLESS | HASTY) | {
    kind: case for kind, case in KINDS.items() if find_spec("transformers") or OF_TRANSFORMERS not in case[1]
}


@st.composite
def meaningless(draw: st.DrawFn) -> Malformed:
    study = draw(studies())
    for key in ("measure", "report", "time_limit_min", "stall_limit_s", "host", "tune", "verify", "profile"):
        study.pop(key, None)
    kind = draw(st.sampled_from(sorted(EVERY)))
    changes, expected = EVERY[kind]
    return Malformed(kind, written(study | changes), (expected,))


@st.composite
def contradictions(draw: st.DrawFn) -> Malformed:
    """Draw values that are individually valid but contradictory, or beyond any machine."""
    study = draw(studies())
    study.pop("measure", None)
    study.pop("host", None)
    kind = draw(st.sampled_from(sorted(CONTRADICTIONS)))
    path, value, expected = CONTRADICTIONS[kind]
    if "*" in path:
        path = tuple(_first(study, "workloads") if key == "*" else key for key in path)
        study["workloads"][path[1]] = study["workloads"][path[1]] | {"epochs": 0}
        study["workloads"][path[1]].pop("target_accuracy", None)
        study["workloads"][path[1]]["optimizer"].pop("decay", None)
    return Malformed(kind, written(placed(study, path, value)), (expected,))


def _bomb(key: str) -> str:
    lines = [f"{key}0: &b0 [1, 2, 3, 4, 5, 6, 7, 8, 9]"]
    lines += [f"{key}{n}: &b{n} [{', '.join([f'*b{n - 1}'] * 9)}]" for n in range(1, 12)]
    return "\n".join(lines) + "\n"


@st.composite
def broken_files(draw: st.DrawFn) -> Malformed:
    """Draw a file that is not text, not YAML, or has a duplicate key."""
    study = draw(studies())
    text = yaml.safe_dump(study, sort_keys=False, allow_unicode=False)
    key = draw(st.sampled_from(sorted(study)))
    n = draw(st.integers(1, 200))
    cases: dict[str, tuple[bytes, str]] = {
        "a key twice": (text.encode() + f"{key}: 1\n".encode(), "twice"),
        "UTF-16": (text.encode("utf-16"), "UTF-16"),
        "Latin-1": (text.encode() + "# é\n".encode("latin-1"), "UTF-8"),
        "binary": (bytes(range(256)) * n, "UTF-8"),
        "a control character": (text.encode() + b"x: \x01\n", "not valid YAML"),
        "an anchor in itself": (text.encode() + b"x: &a\n  b: *a\n", "itself"),
        "a bomb": (text.encode() + _bomb("x").encode(), "values"),
        "deep lists": (text.encode() + b"x: " + b"[" * (100 * n), "deep"),
        "deep mappings": (b"".join(b" " * k + b"a:\n" for k in range(40 + n)), "deep"),
        "cut in a list": (text.encode() + b"x: [1, 2", "not valid YAML"),
        "a tab": (text.encode() + b"x:\n\ty: 1\n", "not valid YAML"),
        "half a quote": (text.encode() + b'x: "y\n', "not valid YAML"),
        "two documents": (text.encode() + b"---\na: 1\n", "another document"),
        "a list": (b"- 1\n" * n, "mapping"),
        "nothing": (b"\n" * n, "mapping"),
        "a number": (str(n).encode(), "mapping"),
        "too much": (b"# comment\n" * 20_000, "larger"),
        "an object of Python": (text.encode() + b"x: !!python/object/apply:os.getcwd []\n", "not valid YAML"),
        "a key that is a number": (text.encode() + f"{n}: 1\n".encode(), f"key {n} "),
        "a key that is true": (text.encode() + b"on: 1\n", "key on"),
        "digits without end": (text.encode() + b"x: " + b"9" * 5000 + b"\n", "number"),
        "an unknown alias": (text.encode() + b"x: *nowhere\n", "nowhere"),
    }
    kind = draw(st.sampled_from(sorted(cases)))
    data, expected = cases[kind]
    return Malformed(kind, data, (expected,))


def malformed() -> st.SearchStrategy[Malformed]:
    return st.one_of(wrong_values(), wrong_keys(), contradictions(), meaningless(), broken_files())
