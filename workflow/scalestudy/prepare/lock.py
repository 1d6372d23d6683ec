"""Two studies that want the same data make them once, and the second one waits."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.record.lock import exclusive
from scalestudy.record.say import say


@contextlib.contextmanager
def alone(target: Path) -> Iterator[None]:
    """Hold the lock of `target`, which need not be there yet; it goes with the process that holds it."""
    path = target.with_name(f".{target.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError as error:
        raise UserError(f"{path.parent}: cannot be written to: {error.strerror}; --root names another") from None
    with exclusive(path, waiting=lambda: say(f"waiting: another process is making {target}")):
        yield
