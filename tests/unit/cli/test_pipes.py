"""Output through a pipe, to a terminal, to a reader that has seen enough; what the shell completes."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest
from conftest import BIN, Checkout
from test_naming import write_study

SCALESTUDY = str(BIN / "scalestudy")


def shown(command: list[str], folder: Path, **environment: str) -> bytes:
    """What a command shows on a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command, cwd=folder, env=os.environ | environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    text = b""
    try:
        while part := os.read(ours, 4096):
            text += part
    except OSError:  # how a terminal says that its other end is closed
        pass
    process.wait()
    os.close(ours)
    return text


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["new", "--help"],
        ["demo"],
        pytest.param(["plan"], marks=pytest.mark.slow),
        ["summary", "--resluts"],
    ],
    ids=" ".join,
)
def test_there_are_no_escape_codes(words: list[str], checkout: Checkout) -> None:
    command = [SCALESTUDY, *words]
    piped = subprocess.run(command, cwd=checkout.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    assert piped
    assert b"\x1b" not in piped
    assert b"\x1b" not in shown(command, checkout.root, NO_COLOR="1", TERM="xterm-256color")


def test_a_run_without_colour_has_none_of_snakemake_either(checkout: Checkout) -> None:
    command = [SCALESTUDY, "run", "-n"]
    assert b"\x1b" in shown(command, checkout.root, TERM="xterm-256color"), "or the next line tests nothing"
    assert b"\x1b" not in shown(command, checkout.root, NO_COLOR="1", TERM="xterm-256color")


@pytest.mark.parametrize("words", [["demo"], ["new", "--help"]], ids=" ".join)
def test_a_reader_that_leaves_is_no_error(words: list[str]) -> None:
    process = subprocess.Popen([SCALESTUDY, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0


@pytest.mark.parametrize(
    "errors", [pytest.param(subprocess.PIPE, marks=pytest.mark.slow), subprocess.STDOUT], ids=["stdout", "both"]
)
def test_what_is_written_is_complete_if_the_reader_leaves(errors: int, tmp_path: Path) -> None:
    """As in `scalestudy import ... | head -1`: the first lines are printed before anything is written."""
    table = "step,step_time_s\n" + "".join(f"{step},0.{5 + step % 3}\n" for step in range(60))
    (tmp_path / "a.csv").write_text(table)
    words = [SCALESTUDY, "import", "a.csv", "--study", "a", "--batch", "8", "--no-documents"]
    for more, status, written in (["--gpus", "1"], 0, True), ([], 2, False):
        results = tmp_path / f"with{len(more)}"
        process = subprocess.Popen(
            [*words, *more, "--results", str(results)], cwd=tmp_path, stdout=subprocess.PIPE, stderr=errors
        )
        process.stdout.close()
        said = process.stderr.read() if process.stderr else b""
        assert process.wait() == status, said
        assert b"Traceback" not in said, said
        assert bool(said) == (process.stderr is not None and status == 2), said
        assert (results / "comprehensive_summary.csv").exists() == written, said


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("scalestudy su", ["summary"]),
        ("scalestudy stage ty", ["typeset"]),
        ("scalestudy number --re", ["--results"]),
        ("scalestudy demo --fault slow-l", ["slow-loader", "slow-log", "slow-link"]),
        ("scalestudy stage train --run mlp-single-b32", ["mlp-single-b32-n1g1-r1", "mlp-single-b32-n1g1-r2"]),
        ("scalestudy number --results results/first mlp.ddp.strong.n2.speed", ["mlp.ddp.strong.n2.speedup"]),
        ("scalestudy number --results nowhere mlp", []),
    ],
)
def test_the_shell_completes(line: str, offered: list[str], tmp_path: Path) -> None:
    write_study(tmp_path, "first")
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1), "_SCALESTUDY_COMPLETE": "bash_complete"}
    done = subprocess.run([SCALESTUDY], cwd=tmp_path, env=os.environ | words, capture_output=True, text=True)
    found = sorted(item.removeprefix("plain,") for item in done.stdout.split())
    assert len(found) == len(offered)
    assert all(item.startswith(word) for item, word in zip(found, sorted(offered), strict=True))
