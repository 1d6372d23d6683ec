"""The screen of a study: on a terminal of 80 and of 40 columns, without one, and after Ctrl-C."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import Checkout, mlp_workload, small_content
from shells import BIN, in_shell
from terminals import Terminal, on_terminal

SCALESTUDY = str(BIN / "scalestudy")


def study(**changes: Any) -> dict[str, Any]:
    return small_content(
        repeats=1,
        workloads={"mlp": mlp_workload(scaling=["strong"])},
        host={"device": "cpu", "start": "fork"},
        measure={"warmup_steps": 2, "max_warmup_steps": 2, "min_steps": 20, "max_steps": 20, "probe_rounds": 0},
        report={"overhead_reference": False},
        **changes,
    )


def seen(checkout: Checkout, *words: str, term: str = "xterm-256color", **size: Any) -> Terminal:
    environment = {name: value for name, value in checkout.environment.items() if name not in ("CI", "NO_COLOR")}
    return on_terminal([SCALESTUDY, "run", *words], checkout.root, environment | {"TERM": term}, **size)


def left_as_it_was(terminal: Terminal) -> bool:
    return terminal.settings_before == terminal.settings_after and not terminal.cursor_is_hidden


def test_a_study_goes_on_after_ctrl_c_and_is_one_screen_and_its_summary(checkout: Checkout) -> None:
    checkout.configure(study())
    terminal = seen(checkout, interrupt_at=b"now: ")
    assert terminal.status != 0
    assert left_as_it_was(terminal)
    measured = {path: path.read_bytes() for path in checkout.root.glob("results/small/runs/*/run.json")}

    terminal = seen(checkout)
    lines = terminal.screen()
    assert terminal.status == 0, "\n".join(lines)
    assert all(path.read_bytes() == content for path, content in measured.items())
    assert len(lines) <= 25, "\n".join(lines)
    assert any(line.startswith("study small: ") for line in lines)
    assert lines[-3].strip().endswith("report.html")
    text = terminal.printed.decode()
    assert "measuring  " in text and " runs  " in text and "log: " in text
    assert left_as_it_was(terminal)

    again = seen(checkout, columns=40)
    assert again.status == 0
    assert any(line.startswith("study small: ") for line in again.screen()), "all is measured: the summary again"


@pytest.mark.parametrize("term", [pytest.param(term, marks=pytest.mark.slow) for term in ("dumb", "")])
def test_a_terminal_that_cannot_paint_gets_a_line_per_run(checkout: Checkout, term: str) -> None:
    checkout.configure(study())
    terminal = seen(checkout, term=term)
    assert terminal.status == 0
    assert b"\x1b" not in terminal.printed
    assert sum(line.startswith("[") for line in terminal.screen()) == len(checkout.plan().runs)


@pytest.mark.slow  # `make report` of .ci/run prints the same lines
def test_without_a_terminal_there_is_a_line_per_run_and_no_more_than_sixty(checkout: Checkout) -> None:
    checkout.configure(study())
    done = checkout.run("scalestudy", "run")
    lines = done.stdout.splitlines()
    assert sum(line.startswith("[") for line in lines) == len(checkout.plan().runs)
    assert len(lines) <= 60
    assert "\x1b" not in done.stdout


@pytest.mark.slow
def test_a_reader_that_leaves_does_not_stop_the_study(checkout: Checkout, tmp_path: Path) -> None:
    checkout.configure(study())
    in_shell("scalestudy run 2>&1 | sed '/^.1\\//q'", checkout.root)
    assert len(list(checkout.root.glob("results/small/runs/*/run.json"))) == len(checkout.plan().runs)


def test_v_shows_the_log_of_snakemake(checkout: Checkout) -> None:
    checkout.configure(study())
    said = in_shell("V=1 scalestudy run results/small/plan.json", checkout.root)
    assert "rule plan_study" in said
