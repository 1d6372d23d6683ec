"""Environment variables of a study: names and values that a process can be given."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator


def _name(name: str) -> str:
    """A name that the operating system takes."""
    if not name or "=" in name or "\0" in name or any(map(str.isspace, name)):
        raise ValueError("is no name of an environment variable; letters, digits and _ make one")
    return name


def _value(value: str) -> str:
    if "\0" in value:
        raise ValueError("a value of an environment variable holds no NUL character")
    return value


Environment = dict[Annotated[str, AfterValidator(_name)], Annotated[str, AfterValidator(_value)]]
