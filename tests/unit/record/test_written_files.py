"""Files are written as a whole, under their own name only."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.record.files import write_text


@pytest.mark.parametrize("path", ["", ".", "/"])
def test_a_path_without_a_name_is_a_folder(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(IsADirectoryError):
        write_text(path, "text")
    assert list(tmp_path.iterdir()) == []
