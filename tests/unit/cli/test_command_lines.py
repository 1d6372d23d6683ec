"""What people may type: no traceback, no hang, and an exit status that docs/command-line.md has."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from command_lines import Line, lines, make_place, mutated
from commands import NOBODY, Ended, become_nobody, call, in_a_fork, load_all
from conftest import BIN, ROOT
from scalestudy.cli.main import STATUSES, VERBS, main
from test_naming import KEY, write_study

ALLOWED = {0, 1, 2, 3}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a study, its results, and everything that a path may name; its owner is the user `nobody`."""
    place = tmp_path / "place"
    place.mkdir()
    write_study(place, "first")
    write_study(place, "second")
    make_place(place)
    for folder, folders, files in os.walk(place):
        for name in ("", *folders, *files):
            if os.geteuid() == 0:
                os.chown(Path(folder) / name, 65534, 65534, follow_symlinks=False)
    for parent in (tmp_path, *tmp_path.parents[:3]):
        parent.chmod(parent.stat().st_mode | 0o755)
    load_all()
    return place


def wrong_with(line: Line, ended: Ended) -> str:
    """Return what is wrong with the end of a command, or ''."""
    said = f"{[word[:60] for word in line.words]} ended with {ended.status}: {ended.err[-400:]}"
    if ended.crashed or ended.hung or ended.status not in ALLOWED or (line.wrong and ended.status != 2):
        return said
    return said if ended.status == 2 and not ended.err.strip() else ""


def wrong_of(place: Path, generated: list[Line]) -> list[str]:
    as_nobody = os.geteuid() == 0  # who could write to devices and into the system's folders
    environment = {"TMPDIR": str(place), "HOME": str(place)}
    made = [(line, call(line.words, place, as_nobody=as_nobody, **environment)) for line in generated]
    return [said for line, ended in made if (said := wrong_with(line, ended))]


def test_generated_command_lines_end_as_documented(place: Path) -> None:
    assert wrong_of(place, lines(24, 60)) == []


def test_lines_with_one_bad_value_end_as_documented(place: Path) -> None:
    assert wrong_of(place, mutated(24, 34)) == []


@pytest.mark.slow
def test_600_generated_command_lines_end_as_documented(place: Path) -> None:
    assert wrong_of(place, lines(1, 600)) == []


@pytest.mark.slow
def test_1700_lines_with_one_bad_value_end_as_documented(place: Path) -> None:
    assert wrong_of(place, mutated(1, 1700)) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_a_user_who_owns_nothing_imports_modules_that_only_their_owner_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the standard library is below /root, which others do not enter."""
    (closed := tmp_path / "closed").mkdir(mode=0o700)
    (closed / "read_late.py").write_text("import os\nUSER = os.geteuid()\n")
    monkeypatch.syspath_prepend(closed)

    def child() -> None:
        become_nobody()
        import read_late

        assert read_late.USER == os.geteuid() == NOBODY
        with pytest.raises(PermissionError):
            (closed / "read_late.py").read_text()

    assert in_a_fork(child, seconds=60).err == ""


@pytest.mark.parametrize("source", ["/", "."])
def test_a_folder_is_no_document_to_typeset(source: str, tmp_path: Path) -> None:
    ended = call(["stage", "typeset", source], tmp_path)
    assert (ended.status, ended.err) == (
        2,
        f"scalestudy stage typeset: {source}: is a folder; name the .tex file\n",
    )


def test_a_link_to_itself_is_no_folder_for_a_comparison(tmp_path: Path) -> None:
    write_study(tmp_path, "first")
    write_study(tmp_path, "second")
    (tmp_path / "loop").symlink_to("loop")
    ended = call(["compare", "results/first", "results/second", "--out", "loop"], tmp_path)
    assert ended.status == 2
    assert "loop" in ended.err and not ended.crashed


def test_a_table_is_not_overwritten_by_its_audit(tmp_path: Path) -> None:
    make_place(tmp_path)
    before = (tmp_path / "audit-good.csv").read_bytes()
    ended = call(["audit", "audit-good.csv", "--out", "./audit-good.csv"], tmp_path)
    assert ended.status == 2
    assert "--out audit-good.csv: is the table; name another file" in ended.err
    assert (tmp_path / "audit-good.csv").read_bytes() == before


def test_exit_statuses_are_documented_as_they_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out.split("Exit status:")[1]
    page = (ROOT / "docs/command-line.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| (\d+) \|", page, flags=re.M)
    assert documented == list(STATUSES) == re.findall(r"^ +(\d+) ", shown, flags=re.M)


@pytest.mark.parametrize(
    "words",
    [
        ["nope"],
        *(pytest.param(words, marks=pytest.mark.slow) for words in (["--results", "nope"], ["results/frist"])),
    ],
    ids=" ".join,
)
def test_a_folder_that_is_not_there_is_named(words: list[str], tmp_path: Path) -> None:
    write_study(tmp_path, "first")
    ended = call(["retry", *words], tmp_path)
    assert ended.status == 2
    assert f"{words[-1]}: no such folder" in ended.err
    assert ("did you mean results/first?" in ended.err) == (words[-1] == "results/frist")


def test_the_nearest_run_is_told(tmp_path: Path) -> None:
    write_study(tmp_path, "first")
    ended = call(
        ["stage", "train", "--results", "results/first", "--run", "mlp-single-b32-n1g1-r1-xxxxxx"], tmp_path
    )
    assert ended.status == 2
    assert (
        "--run mlp-single-b32-n1g1-r1-xxxxxx: not in the plan; did you mean mlp-single-b32-n1g1-r1-" in ended.err
    )


PRINTING = [
    *([verb, "--help"] for verb in VERBS),
    *(["plan"], ["summary"], ["number", KEY], ["demo"], ["new"], ["stage", "diagnose"]),
    *(["estimate", "--gpus", "8", "--params", "1M", "--bandwidth", "1GB/s"], ["audit", "audit-good.csv"]),
]


def test_a_reader_that_has_seen_enough_is_no_error_for_any_verb(tmp_path: Path) -> None:
    write_study(tmp_path, "first")
    make_place(tmp_path)
    for words in PRINTING:
        ended = call(words, tmp_path, reader_left=True)
        assert (ended.status, ended.err) == (0, ""), words


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_output_that_was_closed_before_is_no_error(closed: str) -> None:
    """In a process of its own, as a shell or a daemon starts it."""
    ended = subprocess.run(f"{BIN / 'scalestudy'} demo {closed}", shell=True, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_terminal_without_a_character_is_no_error() -> None:
    """A misspelled key is quoted, with what a terminal for ASCII does not have."""
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    line = [str(BIN / "scalestudy"), "number", "漢", "--study", str(ROOT / "config/config.yaml")]
    ended = subprocess.run(line, env=environment, cwd="/", capture_output=True, text=True)
    assert ended.returncode == 2
    assert "not valid UTF-8" not in ended.stderr and "Traceback" not in ended.stderr


def test_output_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    ended = call(["demo"], tmp_path, output=Path("/dev/full"))
    assert ended.status == 2
    assert ended.err.startswith("scalestudy: the output: cannot be written: the disk is full; ")
    assert ended.err.count("\n") == 1


def test_an_interrupted_command_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("scalestudy.cli.naming.find_study", interrupted)
    monkeypatch.setattr("scalestudy.cli.verb.run.find_study", interrupted)
    assert main(["plan"]) == 130


def test_a_word_that_is_no_text_is_named(tmp_path: Path) -> None:
    ended = call(["audit", "\udcff.csv"], tmp_path)
    assert ended.status == 2
    assert "\\udcff.csv: no such file or directory" in ended.err
