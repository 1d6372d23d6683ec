"""The exceptions that mean "the user can put this right"; the command line prints them without a traceback."""

from collections.abc import Sequence

WHOLE_LIMIT = 1000
"""Characters of a message that is kept whole: about twice those of NCCL's longest messages."""
CPP_STACK = "Exception raised from "
"""What comes before the C++ stack in a message of torch (c10/util/Exception.cpp)."""
CUT = " ... "


class UserError(ValueError):
    """Bad input. Its text names the key, file or run, and says what would be right."""


class RefusedStudyError(UserError):
    """A study's file with keys or values that are not valid: its problems, a line each."""

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        super().__init__("\n  ".join([f"{source}: the study is refused", *problems]))
        self.problems = problems


def with_type(error: BaseException) -> str:
    """The name of its type and the first line of its message."""
    return f"{type(error).__name__}: {first_line(error)}"


def whole_with_type(error: BaseException, *, limit: int = WHOLE_LIMIT) -> str:
    """The name of its type and all lines of its message as one, of at most `limit` characters.

    For errors whose cause is in their last line, as NCCL's is (torch 2.13, NCCLUtils.hpp: "NCCL error in:
    FILE:LINE, ...", the meaning of its code, "Last error:", and what it was). C++'s stack is left out. A message
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
    """Of its message; the name of its type where it has none."""
    return (str(error).splitlines() or [type(error).__name__])[0]
