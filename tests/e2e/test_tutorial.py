"""docs/tutorial.md and docs/audit.md, followed word for word in an empty folder.

The short form has fewer repeats, chooses advice without trying it, and leaves out the script
(test_own_scripts.py measures scripts). The long form runs each command as it is written.
"""

from __future__ import annotations

import re
import resource
import shutil
import textwrap
import time
from pathlib import Path

import pytest
from conftest import ROOT
from shells import in_shell

LONG_S, SHORT_S = 600, 120
"""Limits of the processor time of all commands, which other load hardly changes. On two cores, less time passes
by the clock."""
SHORTER = {
    "--repeats 3": "--repeats 2",
    "--most 1": "--most 1 --dry-run",
}
TEXT = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, flags=re.DOTALL | re.MULTILINE)
FILES = {"yaml": "host.yaml", "latex": "paper.tex", "python": "train.py"}


def follow(folder: Path, *, short: bool) -> tuple[str, float]:
    """Follow the tutorial; return everything that was printed, and the seconds of processor time that it took."""
    printed, before, begin = [], children_s(), time.monotonic()
    for language, block in BLOCKS:
        if language in FILES:
            (folder / FILES[language]).write_text(block, encoding="utf-8")
        if language != "bash":
            continue
        if short:
            for long, shorter in SHORTER.items():
                block = block.replace(long, shorter)
            if "train.py" in block:
                continue
        if "pdflatex" in block and shutil.which("pdflatex") is None:
            continue
        printed.append(in_shell(f"set -e\n{block}", folder))
    print(f"{time.monotonic() - begin:.0f} s by the clock")
    return "\n".join(printed), children_s() - before


def children_s() -> float:
    """Processor time of all processes that this one has waited for, and of those that they have waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def judge(folder: Path, printed: str) -> None:
    """The verdict, the number and the table are there, with the keys that the text names."""
    assert re.search(r"mlp ddp strong on 2 ranks: [a-z -]+, speedup [\d.]+ \[", printed)
    assert "mlp.ddp.strong.n2.speedup = " in printed
    assert (folder / "results/first/report.html").exists()
    if shutil.which("pdflatex"):
        assert (folder / "paper.pdf").exists()


@pytest.mark.alone
def test_the_tutorial_in_short(tmp_path: Path) -> None:
    printed, seconds = follow(tmp_path, short=True)
    print(f"the short tutorial took {seconds:.0f} s of processor time")
    judge(tmp_path, printed)
    assert seconds < SHORT_S


@pytest.mark.alone
@pytest.mark.slow
def test_the_tutorial(tmp_path: Path) -> None:
    printed, seconds = follow(tmp_path, short=False)
    print(f"the tutorial took {seconds:.0f} s of processor time")
    judge(tmp_path, printed)
    assert re.search(r"^  tried: mlp, |^no advice that a study can test$", printed, flags=re.MULTILINE)
    assert (tmp_path / "results/train/report.html").exists()
    assert seconds < LONG_S


def test_every_block_is_followed() -> None:
    """The installation is tested by test_installed.py; text is what commands print."""
    assert {language for language, _ in BLOCKS} == {"sh", "bash", "text", *FILES}
    commands = "".join(block for language, block in BLOCKS if language == "bash")
    assert all(long in commands for long in SHORTER)


def test_the_audit(tmp_path: Path) -> None:
    """The table of the page gives the remarks that it quotes."""
    text = (ROOT / "docs/audit.md").read_text(encoding="utf-8")
    found = re.findall(r"^   ```(\w+)\n(.*?)^   ```$", text, flags=re.DOTALL | re.MULTILINE)
    table, command, quoted = (textwrap.dedent(block) for _, block in found)
    (tmp_path / "table.md").write_text(table, encoding="utf-8")
    assert in_shell(command, tmp_path, status=1) == quoted
