"""How many pages with a scaling table are read as they are meant. made_pages.py and made_ratios.py combine them.

python -m bench.pages                  2000 pages
python -m bench.pages --ratios         pages with printed speedups or efficiencies
python -m bench.pages --planted        the same with an error in one of them
python -m bench.pages --show 17        one page, and what was read of it
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import isclose
from pathlib import Path

from scalestudy.diagnose.audit import audit_file
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published

from bench.made_pages import Page, made
from bench.made_ratios import with_ratios

_NEAR = 0.03
"""Relative difference of a ratio from the truth, which the rounding of printed numbers explains."""
_SHOWN = 20
_CONTRADICTIONS = {"speedup", "efficiency", "no base case", "throughput per device"}
"""Kinds of remarks that call a printed ratio wrong."""


def verdict(page: Page, path: Path) -> tuple[str, str]:
    """Return read, misread, in part or refused, and why. path: where the page is written.

    A page with a planted error is missed if no remark names it; another one that is accused is a false alarm.
    """
    path.write_text(page.text, encoding="utf-8")
    try:
        found, asked = audit_file(read_published(path), "page")
    except UserError as error:
        return "refused", str(error)
    got = [[(scale.row.gpus, scale.speedup.value) for scale in one.table.scales] for one in found]
    if not found and asked:
        return "refused", str(asked[0].question)
    left = list(page.truth)
    for series in got:
        fits = next((one for one in left if _alike(series, one)), None)
        if fits is None:
            return "misread", str(series)
        left.remove(fits)
    if left:
        return "in part", f"{len(left)} series were not read"
    said = [remark for audit in found for remark in audit.remarks if remark.kind in _CONTRADICTIONS]
    if page.parts.get("wrong"):
        return ("read", "") if said else ("missed", "")
    return ("false alarm", said[0].sentence) if said else ("read", "")


def _alike(series: Sequence[tuple[int, float]], truth: Sequence[tuple[int, float]]) -> bool:
    pairs = list(zip(sorted(series), sorted(truth), strict=False))
    same = len(series) == len(truth) and all(own[0] == true[0] for own, true in pairs)
    return same and all(isclose(own[1], true[1], rel_tol=_NEAR) for own, true in pairs)


def verdicts(seeds: Sequence[int], make: Callable[[int], Page] = made) -> Iterator[tuple[Page, str, str]]:
    """Yield each page with its verdict and why."""
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            page = make(seed)
            yield page, *verdict(page, Path(folder) / "page.md")


def main() -> None:
    options = argparse.ArgumentParser(description="reads pages that a program combines")
    options.add_argument("--pages", type=int, default=2000)
    options.add_argument("--first", type=int, default=0, help="seed of the first page")
    options.add_argument("--show", type=int, help="seed of one page to print")
    options.add_argument("--ratios", action="store_true", help="pages with printed ratios")
    options.add_argument("--planted", action="store_true", help="pages with one wrong ratio")
    given = options.parse_args()
    of_ratios = partial(with_ratios, planted=given.planted)
    make: Callable[[int], Page] = of_ratios if given.ratios or given.planted else made
    if given.show is not None:
        ((page, said, why),) = verdicts([given.show], make)
        print(page.text, page.truth, said, why, sep="\n")
        return
    found = Counter[str]()
    failed = Counter[tuple[str, str]]()
    seeds: dict[str, list[int]] = {}
    for seed in range(given.first, given.first + given.pages):
        ((page, said, _),) = verdicts([seed], make)
        found[said] += 1
        if said != "read":
            failed.update(page.parts.items())
            seeds.setdefault(said, []).append(seed)
    print(", ".join(f"{count} {said}" for said, count in found.most_common()))
    for (part, option), count in failed.most_common(12):
        print(f"  {count:4d} of those not read have the {part} '{option}'")
    for said, several in seeds.items():
        print(f"  {said}: seeds {', '.join(map(str, several[:_SHOWN]))}")


if __name__ == "__main__":
    main()
