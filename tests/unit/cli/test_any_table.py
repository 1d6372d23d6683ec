"""Whatever a table has in its cells, audit, forecast and import end with a documented status and no traceback."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from random_tables import random_table
from scalestudy.cli.main import main

STATUSES = {
    "audit": (0, 1, 2, 3),
    "forecast": (0, 2, 3),
    "import": (0, 2),
}


@pytest.mark.parametrize("seed", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in range(100) if n != 2)])
def test_random_tables(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """25 tables of a seed, each read by the three commands; imports write tables of data only."""
    monkeypatch.chdir(tmp_path)
    random = Random(seed)
    for number in range(25):
        kind, content = random_table(random)
        table = Path(f"table-{number}.{kind}")
        table.write_bytes(content)
        for verb, statuses in STATUSES.items():
            more = ("--study", f"study-{number}", "--no-documents") if verb == "import" else ()
            status = main([verb, str(table), *more])
            assert status in statuses, (verb, content, capsys.readouterr().err)
