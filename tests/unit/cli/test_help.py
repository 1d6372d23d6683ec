"""Help of every command: there, quick, and without anything heavy."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from scalestudy.cli.main import STAGES, VERBS, main
from scalestudy.importers.logs.formats import READ

COMMANDS = [
    ["stage"],
    *([name] for name in VERBS),
    *(["stage", name] for name in STAGES),
]
HEAVY = {"pandas", "torch", "pydantic", "rich", "matplotlib", "numpy", "snakemake", "yaml", "jinja2"}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_a_help_of_its_own(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: scalestudy {' '.join(command)} ")
    assert max(map(len, shown.splitlines())) <= 110, "only a list of choices cannot be broken"


def test_the_overview_lists_what_people_type_and_one_line_for_the_stages(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--help"]) == 0
    commands = capsys.readouterr().out.split("Commands:")[1].split("Exit status:")[0]
    assert re.findall(r"^  ([\w-]+)", commands, flags=re.M) == [*VERBS, "stage"]
    assert len(VERBS) == 20


def test_help_loads_nothing_heavy() -> None:
    """In a process of its own: this one has loaded everything."""
    code = (
        "import contextlib, io, sys\n"
        "from scalestudy.cli.main import main\n"
        f"for command in {[[], *COMMANDS]}:\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as shown:\n"
        "        assert main([*command, '--help']) == 0, command\n"
        "    assert shown.getvalue()\n"
        f"print(sorted({HEAVY} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


def test_the_help_of_import_lists_the_formats_that_have_a_reader(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "--help"]) == 0
    listed = capsys.readouterr().out.split("Formats, which are recognised by content:")[1]
    assert re.findall(r"^ +([\w-]+) {2,}\S", listed, flags=re.M) == list(READ)
    documented = (Path(__file__).parents[3] / "docs" / "import.md").read_text(encoding="utf-8")
    assert [name for name in READ if f"`{name}`" not in documented] == []


def test_without_a_command_there_is_help_and_an_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Commands:" in capsys.readouterr().err
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("scalestudy 0.")
