"""Print one number of a study, what it is, and the launches that it is from."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.publish.number_text import number_text
from scalestudy.publish.numbers.book import Book
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.numbers.renamed import new_key
from scalestudy.record.document import read_document

HELP = "one number by its key, with its interval, unit and the launches behind it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", help="such as imdb.ddp.n4.speedup; a beginning lists the keys that have it")
    parser.add_argument(
        "--numbers", type=Path, help="numbers.json (default: that of the only study under results/)"
    )


def run(arguments: argparse.Namespace) -> int:
    path = arguments.numbers or only_study()
    numbers = read_document(path, NumbersFile)
    book = Book(numbers)
    found = book.find(arguments.key)
    if found is None:
        for key in book.full_keys(arguments.key):
            if now := numbers.renamed.get(key) or new_key(key):
                raise UserError(f"{arguments.key}: the key is now {now}")
        raise UserError(f"{arguments.key}: no such number in {path}; {suggestion(numbers, arguments.key)}")
    print(number_text(numbers, *found))
    return 0


def only_study() -> Path:
    """numbers.json of the one study that has results here."""
    found = sorted(Path("results").glob("*/numbers.json"))
    if len(found) == 1:
        return found[0]
    several = ", ".join(map(str, found)) or "none; `snakemake report` makes it"
    raise UserError(f"--numbers: name the file; under results/ there is {several}")


def suggestion(numbers: NumbersFile, key: str) -> str:
    """Keys that may have been meant."""
    keys = list(numbers.numbers)
    below = [other for other in keys if other.startswith(f"{key}.")]
    near = get_close_matches(key, [*keys, *numbers.aliases, *numbers.points], n=5, cutoff=0.5)
    if below:
        return f"it has {', '.join(below[:8])}" + (f" and {len(below) - 8} more" if len(below) > 8 else "")
    return f"near it are {', '.join(near)}" if near else f"there are {', '.join(numbers.points)}"
