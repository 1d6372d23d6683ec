"""`scalestudy number KEY`: one number of a study."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from scalestudy.cli.options import entries, of_results
from scalestudy.errors import UserError
from scalestudy.registry.files import RESULTS


@of_results("print one number by its key, and the runs behind it", "numbers")
@click.argument("key", shell_complete=entries("numbers", "numbers"))
def command(results: Path, key: str) -> int:
    """Print one number of a study: value, interval, unit, and the runs that it comes from.

    KEY is such as imdb.ddp.n4.speedup; the beginning of a key lists the keys that continue it.
    """
    from scalestudy.cli.inputs import json_of
    from scalestudy.publish.ledger import find
    from scalestudy.publish.number_text import number_text

    numbers = json_of(results, "numbers")
    found = find(numbers, key)
    if found is None:
        path = results / RESULTS["numbers"]
        raise UserError(f"{key}: no such number in {path}; {suggestion(numbers, key)}")
    print(number_text(numbers, *found))
    return 0


def suggestion(numbers: dict[str, Any], key: str) -> str:
    """Keys that may have been meant."""
    keys = list(numbers["numbers"])
    below = [other for other in keys if other.startswith(f"{key}.")]
    near = get_close_matches(key, [*keys, *numbers["aliases"], *numbers["points"]], n=5, cutoff=0.5)
    if below:
        return f"it has {', '.join(below[:8])}" + (f" and {len(below) - 8} more" if len(below) > 8 else "")
    return f"near it are {', '.join(near)}" if near else f"there are {', '.join(numbers['points'])}"
