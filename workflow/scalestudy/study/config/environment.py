"""Environment variables of a study: names and values that the operating system accepts."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator


def _name(name: str) -> str:
    """The name. Raises ValueError if the operating system does not accept it."""
    if not name or "=" in name or "\0" in name or any(map(str.isspace, name)):
        raise ValueError("is not a name of an environment variable; use letters, digits and _")
    return name


def _value(value: str) -> str:
    if "\0" in value:
        raise ValueError("a value of an environment variable cannot contain a NUL character")
    return value


Environment = dict[Annotated[str, AfterValidator(_name)], Annotated[str, AfterValidator(_value)]]
