"""The base class of every entry of the config."""

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict


class Entry(BaseModel):
    """An entry of the config. It is frozen and refuses unknown keys; the text under a field is its
    documentation."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        defer_build=True,  # a run uses few of them
        allow_inf_nan=False,
        serialize_by_alias=True,  # what is written can be read again
    )


def refuse(problems: Iterable[str]) -> None:
    """Raise ValueError with all problems, one on a line, if there are any."""
    if found := list(problems):
        raise ValueError("\n".join(found))
