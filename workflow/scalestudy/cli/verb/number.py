"""`scalestudy number KEY`: one number of a study."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalestudy.cli.options import entries, of_results
from scalestudy.errors import UserError
from scalestudy.registry.results import RESULTS

if TYPE_CHECKING:
    from scalestudy.publish.numbers.model import NumbersFile


@of_results("print one number by its key, and the runs behind it", "numbers")
@click.argument("key", shell_complete=entries("numbers", "numbers"))
def command(results: Path, key: str) -> int:
    """Print one number of a study: value, interval, unit, and the runs that it comes from.

    KEY is such as imdb.ddp.n4.speedup; the beginning of a key lists the keys that continue it.
    """
    from scalestudy.cli.inputs import book_of
    from scalestudy.publish.numbers.provenance import number_text
    from scalestudy.publish.numbers.renamed import new_key

    book = book_of(results)
    found = book.find(key)
    if found is None:
        for full in book.full_keys(key):
            if now := book.renamed.get(full) or new_key(full):
                raise UserError(f"{key}: the key is now {now}")
        path = results / RESULTS["numbers"]
        raise UserError(f"{key}: no such number in {path}; {suggestion(book, key)}")
    print(number_text(book, *found))
    return 0


def suggestion(numbers: NumbersFile, key: str) -> str:
    """Keys that may have been meant."""
    keys = list(numbers.numbers)
    below = [other for other in keys if other.startswith(f"{key}.")]
    near = get_close_matches(key, [*keys, *numbers.aliases, *numbers.points], n=5, cutoff=0.5)
    if below:
        return f"it has {', '.join(below[:8])}" + (f" and {len(below) - 8} more" if len(below) > 8 else "")
    return f"near it are {', '.join(near)}" if near else f"there are {', '.join(numbers.points)}"
