"""Results of a study in the library: what is refused before any study is read."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest
import scalestudy as ss
from scalestudy.library import Results


def test_an_archive_is_refused_with_the_command_that_reads_it(tmp_path: Path) -> None:
    archive = tmp_path / "d.zip"
    ZipFile(archive, "w").close()
    with pytest.raises(ss.UserError) as error:
        ss.read(archive)
    assert str(error.value).startswith(f"{archive}: is an archive, not a folder; `scalestudy report {archive}`")


def test_any_other_file_is_refused_without_options_of_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text("study: first\n")
    for given in (file, str(file)):
        with pytest.raises(ss.UserError) as error:
            ss.read(given)
        assert str(error.value).endswith(
            "is a file, not a folder; name the results of a study, such as results/STUDY"
        )


@pytest.mark.parametrize("given", [None, 3, ["points"], float("nan")])
def test_names_that_are_no_text_are_refused(given: object, tmp_path: Path) -> None:
    study = Results(tmp_path, "first")
    for read, name in ((study.number, "number"), (study.frame, "frame"), (study.latex_table, "latex_table")):
        with pytest.raises(ss.UserError) as error:
            read(given)  # type: ignore[arg-type]
        assert str(error.value).startswith(f"{name}: {given!r}; must be ")
