"""The place of a run: what lies there before a launch, and how a fresh record gets there without loss.

What is in the way is moved under results/superseded/, where nothing is overwritten, and that is said. A record
that cannot be put in its place stays whole in the partial directory. The next call takes it from there.
"""

import datetime
import shutil
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.launch.attempt import Earlier, UnreadableAttemptError, earlier_attempts
from scalestudy.record.files import sync, writing
from scalestudy.record.observation import RunRecord, content_of, digest_of, read_record
from scalestudy.record.say import say

TRIES = 3


def kept_record(final: Path, results: Path) -> RunRecord | None:
    """The record of a run that need not be made again, else None. A file in its place is set aside.

    Raises UserError where what is there may have been measured and cannot be read.
    """
    if final.is_symlink() and not final.exists():
        raise UserError(
            f"{final}: is a link to {final.readlink()}, which is not there. Bring that back, or remove the link,"
            " and call the same command again"
        )
    if final.exists() and not final.is_dir():
        say(f"{final}: is no run; moved to {set_aside(final, results)}")
    record = final / "run.json"
    if not (record.exists() or record.is_symlink()):
        return None
    found = read_record(final)
    return found if found.outcome not in ("unneeded", "preempted") else None


def take_over(partial: Path, final: Path, results: Path) -> tuple[bool, Earlier]:
    """Clear what an earlier attempt left: (whether that was a whole record, now in its place; earlier attempts).

    Nobody else holds the run's lock, so whoever left it was killed.
    """
    if is_whole(partial):
        put_in_place(partial, final, results)
        say(f"{final.name}: an earlier attempt had measured it; its record is in its place now")
        return True, []
    try:
        earlier = earlier_attempts(partial, final)
    except UnreadableAttemptError as error:
        say(f"{error}; what is left of that attempt is in {set_aside(partial, results)}")
        earlier = []
    if (partial.exists() and not partial.is_dir()) or partial.is_symlink() or (partial / "run.json").exists():
        say(f"{partial}: is no attempt at a run; moved to {set_aside(partial, results)}")
    shutil.rmtree(partial, ignore_errors=True)
    return False, earlier


def is_whole(partial: Path) -> bool:
    """Whether a partial directory has a whole record, which its launcher could not put in place."""
    if not (partial / "run.json").is_file():
        return False
    try:
        record = read_record(partial)
        return all(digest_of(content_of(partial / name)) == of for name, of in record.files.items())
    except UserError:
        return False


def put_in_place(partial: Path, final: Path, results: Path) -> None:
    """Move a whole record to its place, and what is there out of its way.

    Raises UserError where it cannot be moved; it then stays whole where it is.
    """
    for left in reversed(range(TRIES)):
        try:
            final.parent.mkdir(parents=True, exist_ok=True)
            in_the_way = final.is_symlink() or not final.is_dir()
            aside = set_aside(final, results)
            if aside and in_the_way:
                say(f"{final}: was in the way of the run; moved to {aside}")
            partial.rename(final)
            break
        except OSError as error:
            if not left:
                raise UserError(
                    f"{final}: the run was measured, and cannot be put here"
                    f" ({(error.strerror or str(error)).lower()}). Its record is whole in {partial}. Clear the way"
                    " and call the same command again: it takes it from there"
                ) from None
    with writing(final):
        sync(final.parent)


def set_aside(place: Path, results: Path) -> Path | None:
    """Move a run, or what is in the place of one, under results/superseded/, where nothing is overwritten; None if
    nothing is there."""
    if not place.is_symlink() and (not place.exists() or (place.is_dir() and not any(place.iterdir()))):
        return None
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    target = results / "superseded" / f"{place.name}.{stamp}"
    target.parent.mkdir(parents=True, exist_ok=True)
    place.rename(target)
    return target
