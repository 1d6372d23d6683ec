"""The exceptions that mean "the user can put this right"; the command line prints them without a traceback."""

from collections.abc import Sequence


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


def first_line(error: BaseException) -> str:
    """Of its message; the name of its type where it has none."""
    return (str(error).splitlines() or [type(error).__name__])[0]
