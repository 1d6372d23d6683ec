"""The directory of a run: checks what it contains before a run, and moves a new record there without loss.

Anything in the way is moved to results/superseded/, where nothing is overwritten, and a message reports it. A
record that cannot be moved to its directory stays complete in the partial directory; the next call moves it.
"""

import contextlib
import datetime
import shutil
from collections.abc import Iterator
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.launch.attempt import Earlier, UnreadableAttemptError, earlier_attempts
from scalestudy.record.files import sync, writing
from scalestudy.record.observation import RunRecord, content_of, digest_of, read_record
from scalestudy.record.say import say

TRIES = 3


def kept_record(final: Path, results: Path) -> RunRecord | None:
    """The record of a run that need not be repeated; else None. A file that is not a run is set aside.

    Raises UserError where the directory may contain a measured run and cannot be read.
    """
    if final.is_symlink() and not final.exists():
        raise UserError(
            f"{final} is a link to {final.readlink()}, which does not exist. Restore that, or remove the link, and"
            " call the same command again"
        )
    if final.exists() and not final.is_dir():
        say(f"{final} is not a run; it was moved to {set_aside(final, results)}")
    record = final / "run.json"
    if not (record.exists() or record.is_symlink()):
        return None
    found = read_record(final)
    return found if found.outcome not in ("unneeded", "preempted") else None


def take_over(partial: Path, final: Path, results: Path) -> tuple[bool, Earlier]:
    """Clear what an earlier attempt left. Returns (whether this was a complete record, which is now published; the
    earlier attempts).

    The caller holds the run's lock, so the process that left these files was killed.
    """
    if is_whole(partial):
        put_in_place(partial, final, results)
        say(f"{final.name}: an earlier attempt had measured this run; its record is now in {final.parent}")
        return True, []
    try:
        earlier = earlier_attempts(partial, final)
    except UnreadableAttemptError as error:
        say(f"{error}; the files of that attempt were moved to {set_aside(partial, results)}")
        earlier = []
    if (partial.exists() and not partial.is_dir()) or partial.is_symlink() or (partial / "run.json").exists():
        say(f"{partial} is not an attempt at a run; it was moved to {set_aside(partial, results)}")
    shutil.rmtree(partial, ignore_errors=True)
    return False, earlier


@contextlib.contextmanager
def new_attempt(partial: Path, results: Path) -> Iterator[None]:
    """Create the directory of an attempt. If an exception ends the attempt, the directory is removed.

    After an error of our own it is set aside instead, since the ranks may have measured for a night.
    """
    try:
        partial.mkdir(parents=True)
        yield
    except BaseException as error:
        if isinstance(error, Exception) and not isinstance(error, UserError | OSError):
            say(f"{partial.name}: what the ranks wrote was moved to {set_aside(partial, results)}")
        shutil.rmtree(partial, ignore_errors=True)
        raise


def is_whole(partial: Path) -> bool:
    """Whether a partial directory has a complete record, which its launcher could not publish."""
    if not (partial / "run.json").is_file():
        return False
    try:
        record = read_record(partial)
        return all(digest_of(content_of(partial / name)) == of for name, of in record.files.items())
    except UserError:
        return False


def put_in_place(partial: Path, final: Path, results: Path) -> None:
    """Move a complete record to the directory of its run, and anything there out of the way.

    Raises UserError where it cannot be moved; the record then stays complete in the partial directory.
    """
    for left in reversed(range(TRIES)):
        try:
            final.parent.mkdir(parents=True, exist_ok=True)
            in_the_way = final.is_symlink() or not final.is_dir()
            aside = set_aside(final, results)
            if aside and in_the_way:
                say(f"{final} was in the way of the run; it was moved to {aside}")
            partial.rename(final)
            break
        except OSError as error:
            if not left:
                raise UserError(
                    f"{final}: the run was measured, but its record cannot be moved here"
                    f" ({(error.strerror or str(error)).lower()}). The record is complete in {partial}. Clear the"
                    " way and call the same command again; it then moves the record"
                ) from None
    with writing(final):
        sync(final.parent)


def set_aside(place: Path, results: Path) -> Path | None:
    """Move a run, or anything at its path, to results/superseded/, where nothing is overwritten.

    Returns the new path; None if there was nothing to move.
    """
    if not place.is_symlink() and (not place.exists() or (place.is_dir() and not any(place.iterdir()))):
        return None
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    target = results / "superseded" / f"{place.name}.{stamp}"
    target.parent.mkdir(parents=True, exist_ok=True)
    place.rename(target)
    return target
