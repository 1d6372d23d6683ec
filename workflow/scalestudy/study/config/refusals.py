"""The sentences of refusals: what a key expects, and the value that was found."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import Any

NAME = r"^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$"
URL = r"^https?://[^\s/]+\S*$"
SHA256 = r"^[0-9a-f]{64}$"
PARAMETERS = r"^\d+(\.\d+)?[MB]$"
"""Patterns of texts, each with its words in FORMS."""
LONGEST = 60
"""Longest quotation of a value, in characters."""


def words(kind: str, context: Mapping[str, Any], value: Any) -> str | None:
    """The sentence for an error of pydantic, by its kind and context; None for a kind without a sentence.

    value: the value in the study.
    """
    known = _SENTENCES.get(kind)
    return known(context, value) if known else None


LARGEST = 1e9
"""Limit for all numbers in a study but seeds: samples, steps, widths, minutes, bytes in MiB. No key lifts it."""
LIFTS = "accept_large_numbers"
"""The key that lifts the smaller limits."""
MOST: dict[str, float] = {
    **dict.fromkeys(("d_model", "hidden_dim", "widths", "channels"), 1e6),
    **dict.fromkeys(("features", "classes", "vocabulary", "sequence_length", "feedforward_dim"), 1e7),
    **dict.fromkeys(("size", "accumulation_steps", "batches_per_step"), 1e5),
    **dict.fromkeys(("num_layers", "heads", "prefetch_factor", "checkpoints_kept"), 1e4),
    **dict.fromkeys(("powersgd_rank", "most"), 1e3),
    **dict.fromkeys(("bucket_cap_mb", "epochs"), 1e6),
    **dict.fromkeys(("time_limit_min", "allocation_limit_min"), 1e5),
    **dict.fromkeys(("start_limit_s", "stall_limit_s"), 1e7),
    **dict.fromkeys(("workers", "cores_per_rank"), 1e3),
    **dict.fromkeys(("profile_steps", "probe_rounds", "alternating_rounds"), 200),
    **dict.fromkeys(("swapped_mib_per_s", "clock_jump_s", "probe_steps"), 1e5),
    "budget_device_hours": 1e6,
    "dropout": 0.95,
    "memory_limit_gib": 4096,
    "learning_rate": 1e4,
    "weight_decay": 100,
}
"""Smaller limits, by key: one or two powers of ten above the largest values in use."""


def too_large(study: Mapping[str, Any]) -> Iterator[str]:
    """A line for each number of a study that is larger than any study needs, with its key path."""
    large = list(_large(study, (), ""))
    if study.get(LIFTS) is not True:
        for path, number, most in large:
            lifted = f"; {LIFTS}: true accepts it" if number <= LARGEST else ""
            yield (
                f"{path}: {shown(number)} is far more than studies use, which is usually a wrong unit; {most:g} or"
                f" less is expected{lifted}"
            )
        return
    if not large:
        yield f"{LIFTS}: has no effect, since no number is far larger than usual; leave it out"
    for path, number, _ in large:
        if number > LARGEST:
            yield f"{path}: {shown(number)} is more than any machine can run; {LARGEST:g} or less is expected"


def _large(content: Any, path: tuple[str, ...], key: str) -> Iterator[tuple[str, float, float]]:
    """Key path, value and limit of each number above its limit. key: the last in the path that is a name."""
    if isinstance(content, Mapping):
        for name, inner in content.items():
            yield from _large(inner, (*path, str(name)), str(name))
    elif isinstance(content, list | tuple):
        for index, inner in enumerate(content):
            yield from _large(inner, (*path, str(index)), key)
    elif isinstance(content, int | float) and not isinstance(content, bool):
        most = MOST.get(key, LARGEST)
        if most < content < inf and key != "seed":
            yield ".".join(path), content, most


def shown(value: Any) -> str:
    """A value as a user would write it, short."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, str):
        text = repr(value)
    else:
        text = json.dumps(value) if value is None or isinstance(value, bool) else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 5]} ...{text[-1:]}"


def _expected(what: str) -> Callable[[Mapping[str, Any], Any], str]:
    return lambda _, value: f"{what} is expected, not {shown(value)}"


def _number(what: str) -> Callable[[Mapping[str, Any], Any], str]:
    def sentence(_: Mapping[str, Any], value: Any) -> str:
        advice = ""
        if isinstance(value, str) and _is_number(value):
            advice = "; write all its digits" if "e" in value.lower() else "; leave out the quotes"
        elif isinstance(value, float) and value.is_integer():
            advice = f"; write {value:.0f}"
        return f"{what} is expected, not {shown(value)}{advice}"

    return sentence


def _text(_: Mapping[str, Any], value: Any) -> str:
    plain = isinstance(value, int | float)
    return f"text is expected, not {shown(value)}" + ("; in quotes it is text" if plain else "")


def _bound(key: str, what: str) -> Callable[[Mapping[str, Any], Any], str]:
    return lambda context, value: f"{what.format(f'{context[key]:.17g}')} is expected, not {shown(value)}"


FORMS = {
    NAME: "lower-case letters, digits and hyphens, such as a-b, are",
    URL: "an address such as https://example.org/data.tar.gz is",
    SHA256: "a checksum of 64 hexadecimal digits in lower case is",
    PARAMETERS: "a number with M for millions or B for billions, such as 125M or 1.3B, is",
}
"""What is expected of a text, by its pattern."""


def _form(context: Mapping[str, Any], value: Any) -> str:
    return f"{FORMS[context['pattern']]} expected, not {shown(value)}"


OTHER_NAMES = {
    "gpu": "cuda",
    "amp": "bf16",
    "bfloat16": "bf16",
    "half": "fp16",
    "float16": "fp16",
    "float32": "fp32",
}
"""What other tools call a value -> its name here."""


def _literal(context: Mapping[str, Any], value: Any) -> str:
    expected = str(context["expected"])
    valid = expected.replace("'", "").replace(" or ", ", ").split(", ")
    other = OTHER_NAMES.get(str(value).lower())
    near = [other] if other in valid else difflib.get_close_matches(str(value), valid, n=1)
    return f"{expected} is expected, not {shown(value)}" + (f"; did you mean {near[0]}?" if near else "")


def _tag(context: Mapping[str, Any], value: Any) -> str:
    key, valid = str(context["discriminator"]).strip("'"), str(context["expected_tags"]).replace("'", "")
    return f"{key}: {shown(context['tag'])} is not known; valid are {valid}"


def _no_tag(context: Mapping[str, Any], value: Any) -> str:
    if not isinstance(value, Mapping):
        return f"a mapping of keys is expected, not {shown(value)}"
    return f"{str(context['discriminator']).strip(chr(39))}: missing: this key is required"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_SENTENCES: dict[str, Callable[[Mapping[str, Any], Any], str]] = {
    "int_type": _number("a whole number"),
    "int_from_float": _number("a whole number"),
    "int_parsing_size": _expected("a number of fewer digits"),
    "float_type": _number("a number"),
    "finite_number": _expected("a finite number"),
    "bool_type": _expected("true or false"),
    "string_type": _text,
    "tuple_type": _expected("a list"),
    "dict_type": _expected("a mapping of keys"),
    "model_type": _expected("a mapping of keys"),
    "model_attributes_type": _expected("a mapping of keys"),
    "literal_error": _literal,
    "greater_than_equal": _bound("ge", "{} or more"),
    "greater_than": _bound("gt", "a number above {}"),
    "less_than_equal": _bound("le", "{} or less"),
    "less_than": _bound("lt", "a number below {}"),
    "too_short": lambda context, _: f"at least {context['min_length']} is needed, and there is none",
    "string_pattern_mismatch": _form,
    "string_too_long": _bound("max_length", "text of {} characters or fewer"),
    "union_tag_invalid": _tag,
    "union_tag_not_found": _no_tag,
}
