"""Two studies that want the same data make them once, and the second one waits."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.record.lock import exclusive
from scalestudy.record.say import say


def alone(target: Path) -> AbstractContextManager[object]:
    """Hold the lock of `target`, which need not be there yet."""
    path = target.with_name(f".{target.name}.lock")
    try:
        return exclusive(path, waiting=lambda: say(f"waiting: another process is making {target}"))
    except OSError as error:
        raise UserError(f"{path.parent}: cannot be written to: {error.strerror}; --data names another") from None
