"""Documents of one study, made by the code of two revisions from the same runs, and how they differ.

    python -m bench.revisions --before REVISION results/digits [results/...]

Each revision plans the study again from its own plan.json, reads the same run directories and makes every table,
number and document by its own commands. Renamed keys and columns are then replaced in the older documents by
their new names; what is still different is printed as a unified diff.
"""

from __future__ import annotations

import argparse
import csv
import difflib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
TABLE_OF_NAMES = "\\scalestudy@renamed{"
"""Begins the lines of numbers.tex that have old names beside new ones; a revision that has them is left alone."""
COMPARED = ("*.txt", "*.tex", "*.html", "tables/*.tex", "figures/*.csv", "figures/*.txt")
MAKE = """
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from bench.documents import run_job, stages
from scalestudy.study.{config}load import load_study
from scalestudy.study.plan import make_plan
results = Path(sys.argv[1])
plan = make_plan(load_study(results / "study.json"))
(results / "plan.json").write_text(plan.model_dump_json(), encoding="utf-8")
for jobs in stages(plan, results).values():
    for arguments in jobs:
        run_job(arguments)
"""
"""The commands of a revision are those of its own benchmark of documents."""


def make_documents(checkout: Path, source: Path, folder: Path) -> Path:
    """Write the documents of the runs in source with a checkout of the code, and return their folder."""
    results = folder / source.name
    shutil.copytree(source / "runs", results / "runs", ignore=shutil.ignore_patterns(".partial"))
    study = json.loads((source / "plan.json").read_text(encoding="utf-8"))["study"]
    study.pop("defaults", None)  # a key that 0.1 has not; at its value of today nothing follows from it
    (results / "study.json").write_text(json.dumps(study), encoding="utf-8")  # JSON is YAML
    code = MAKE.format(config="config." if (checkout / "workflow/scalestudy/study/config").is_dir() else "")
    paths = [str(checkout / "workflow"), str(checkout / "tests")]
    subprocess.run(
        [sys.executable, "-c", code, str(results)],
        check=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )
    return results


def renamed(text: str, names: dict[str, str]) -> str:
    """The text with old names replaced by new ones, the longest first, as whole words only."""
    if not names:
        return text
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    whole = re.compile(rf"(?<![\w.-])(?:{pattern})(?![\w-])")
    return "".join(
        line if TABLE_OF_NAMES in line else whole.sub(lambda match: names[match[0]], line)
        for line in text.splitlines(keepends=True)
    )


def with_columns_of(old: str, new: str) -> str:
    """The points of a figure's new table, without columns that the old one does not have."""
    columns = next(csv.reader(io.StringIO(old)))
    rows = list(csv.DictReader(io.StringIO(new)))
    shown = io.StringIO()
    writer = csv.DictWriter(shown, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _number(row[name]) for name in columns} for row in rows if row["y"])
    return shown.getvalue()


def _number(text: str) -> str:
    """A number as Python writes it; other text as it is."""
    try:
        return f"{float(text):.12g}"  # the last digits of a float are those of its computation
    except ValueError:
        return text


def differences(before: Path, after: Path, names: dict[str, str]) -> list[str]:
    """Lines of unified diffs of all documents, the older ones with the new names."""
    paths = sorted(
        {path.relative_to(side) for side in (before, after) for glob in COMPARED for path in side.glob(glob)}
    )
    lines: list[str] = []
    for path in paths:
        old, new = (
            (side / path).read_text(encoding="utf-8") if (side / path).exists() else "" for side in (before, after)
        )
        old = renamed(old, names)
        if path.suffix == ".csv" and old and new:
            old, new = with_columns_of(old, old), with_columns_of(old, new)
        lines += difflib.unified_diff(
            old.splitlines(), new.splitlines(), f"before/{path}", f"after/{path}", lineterm="", n=0
        )
    pictures = sorted(path.relative_to(after) for path in after.glob("figures/*.png"))
    for path in pictures:
        pixels = different_pixels(before / path, after / path)
        lines += [f"{path}: {pixels} pixels differ"] if pixels else []
    print(f"{after.name}: {len(paths)} documents and {len(pictures)} figures, {len(names)} names replaced")
    return lines


def different_pixels(before: Path, after: Path) -> int:
    """Pixels of two pictures that are not alike; all of the second one's where they differ in size."""
    first, second = (Image.open(path).convert("RGB") for path in (before, after))
    if first.size != second.size:
        return second.size[0] * second.size[1]
    return int((np.asarray(first) != np.asarray(second)).any(axis=2).sum())


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="+", type=Path, metavar="RESULTS", help="results folders with runs/")
    parser.add_argument("--before", required=True, help="revision of git, such as v0.1.0")
    parser.add_argument("--keep", type=Path, help="keep both sets of documents in this folder")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="bench-revisions-") as temporary:
        folder = arguments.keep or Path(temporary)
        checkout = Path(temporary) / "checkout"
        checkout.mkdir()
        archive = subprocess.run(
            ["git", "archive", arguments.before], cwd=ROOT, stdout=subprocess.PIPE, check=True
        )
        subprocess.run(["tar", "-x"], cwd=checkout, input=archive.stdout, check=True)
        found: list[str] = []
        for source in arguments.studies:
            for name in ("before", "after"):
                (folder / name).mkdir(parents=True, exist_ok=True)
            before = make_documents(checkout, source.resolve(), folder / "before")
            after = make_documents(ROOT, source.resolve(), folder / "after")
            names = json.loads((after / "numbers.json").read_text(encoding="utf-8")).get("renamed", {})
            found += differences(before, after, names)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
