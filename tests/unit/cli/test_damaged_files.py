"""Every command refuses a changed table or document, and names the file."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Ended, call, load_all
from conftest import Checkout
from damage import damages, restore
from scalestudy.cli.main import main
from scalestudy.registry.results import RESULTS
from test_naming import KEY, write_study

# Verb or stage -> its words, and what it reads of a results folder.
READERS = {
    "summary": (["summary"], ("plan", "summary", "runs", "findings", "numbers")),
    "number": (["number", KEY], ("numbers",)),
    "plan": (["plan"], ("plan",)),
    "estimate": (["estimate", "--gpus", "8", "--workload", "mlp", "--bandwidth", "1GB/s"], ("summary",)),
    "diagnose": (["stage", "diagnose"], ("plan", "summary", "forecasts", "runs", "epochs")),
}
OF_DOCUMENTS = ("plan", "summary", "runs", "forecasts", "factors", "floors", "findings", "environment", "traces")
STAGES = {
    "numbers": OF_DOCUMENTS,
    "text": (*OF_DOCUMENTS, "numbers"),
    "page": (*OF_DOCUMENTS, "numbers"),
    "documents": (*OF_DOCUMENTS, "numbers"),
    "tables": ("plan", "summary", "numbers", "environment"),
    "plot": ("plan", "summary", "epochs", "forecasts", "collectives", "quantiles", "held_out"),
}


def cases(results: Path, readers: dict[str, tuple[list[str], tuple[str, ...]]]) -> Iterator[tuple[str, str, str]]:
    """(reader, file, name of the damage): every damage of every file that a command reads."""
    for reader, (_, read) in readers.items():
        for name in read:
            for damage in damages(results / RESULTS[name]):
                yield reader, RESULTS[name], damage


def refused(ended: Ended, file: str) -> str:
    """Return what is wrong with the end of a command; '' if it refused the file by its name, with a command."""
    if ended.hung or ended.crashed or ended.status != 2:
        return f"status {ended.status}: {ended.err[-300:]}"
    if file not in ended.err or "`" not in ended.err:
        return f"no name of the file, or no command: {ended.err}"
    return "" if len(ended.err) < 500 else f"too long: {ended.err}"


def wrong_of(
    chosen: list[tuple[str, str, str]], words_of: dict[str, list[str]], originals: Path, results: Path, place: Path
) -> list[str]:
    """A line for each case in which the command did anything but refuse the file."""
    wrong = []
    for reader, file, damage in chosen:
        damages(originals / file)[damage](results / file)
        ended = call([*words_of[reader], "--results", str(results.relative_to(place))], place)
        restore(results / file, originals / file)
        if said := refused(ended, file):
            wrong.append(f"{reader}, {file}, {damage}: {said}")
    return wrong


# Without checksums, as in earlier releases, a table may have fewer rows than were written.
UNSEEN = ("without its last line", "its first line", "of another study")


def test_a_damaged_file_is_refused_by_its_name(tmp_path: Path) -> None:
    write_study(tmp_path, "first")
    results, originals = tmp_path / "results/first", tmp_path / "originals"
    shutil.copytree(results, originals)
    every = [case for case in cases(results, READERS) if case[2] not in UNSEEN]
    chosen = random.Random(24).sample(every, 40)
    assert main(["summary", "--results", str(results)]) == 0  # imports what the forks then need not
    words_of = {name: words for name, (words, _) in READERS.items()}
    assert wrong_of(chosen, words_of, originals, results, tmp_path) == []


@pytest.mark.slow
def test_every_damage_of_every_file_is_refused_by_every_command_that_reads_it(edited: Checkout) -> None:
    load_all()
    results, originals = edited.root / "results/tiny", edited.root / "originals"
    edited.run("scalestudy", "stage", "aggregate", "--results", "results/tiny")
    shutil.copytree(results, originals)
    readers = READERS | {name: (["stage", name], read) for name, read in STAGES.items()}
    words_of = {name: words for name, (words, _) in readers.items()}
    words_of["number"] = ["number", KEY.replace("mlp", "first")]
    words_of["estimate"] = [word.replace("mlp", "first") for word in words_of["estimate"]]
    chosen = list(cases(results, readers))
    assert len(chosen) > 1000
    assert wrong_of(chosen, words_of, originals, results, edited.root) == []
