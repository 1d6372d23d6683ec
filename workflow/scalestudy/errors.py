"""Exceptions for errors that the user can fix; the command line prints them without a traceback."""

from collections.abc import Sequence

WHOLE_LIMIT = 1000
"""Largest number of characters of a message: about twice NCCL's longest message."""
CPP_STACK = "Exception raised from "
"""Text in front of the C++ stack in a message of torch (c10/util/Exception.cpp)."""
CUT = " ... "


class UserError(ValueError):
    """Bad input. Its message names the key, file or run, and what would be right."""


class RefusedStudyError(UserError):
    """A study file with invalid keys or values. Its message has a line per problem."""

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        super().__init__("\n  ".join([f"{source}: the study is refused", *problems]))
        self.problems = problems


def with_type(error: BaseException) -> str:
    """Return the name of the error's type and the first line of its message."""
    return f"{type(error).__name__}: {first_line(error)}"


def whole_with_type(error: BaseException, *, limit: int = WHOLE_LIMIT) -> str:
    """Return the name of the error's type and all lines of its message as one, in at most `limit` characters.

    For errors with the cause in their last line, such as NCCL's (torch 2.13, NCCLUtils.hpp: "NCCL error in:
    FILE:LINE, ...", the meaning of its code, "Last error:", and the error). The C++ stack is left out. A message
    that is too long loses its middle.
    """
    text = ""
    for line in str(error).split(CPP_STACK)[0].splitlines():
        if line := line.strip():
            text += (" " if text.endswith(":") else "; " if text else "") + line
    if len(text) > limit:
        kept = limit - len(CUT)
        text = text[: kept // 3] + CUT + text[len(text) - (kept - kept // 3) :]
    return f"{type(error).__name__}: {text or type(error).__name__}"


def first_line(error: BaseException) -> str:
    """Return the first line of the error's message, or the name of its type if the message is empty."""
    return (str(error).splitlines() or [type(error).__name__])[0]
