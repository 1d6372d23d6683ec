"""Files that are damaged, huge, or made to harm: an error that names the file and the line, in little memory."""

from __future__ import annotations

import gzip
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from scalestudy.analyse.published.runs import logs_of_tables
from scalestudy.importers.logs.formats import is_table, read_log
from scalestudy.importers.logs.lines import LONGEST_LINE
from scalestudy.importers.logs.model import Given
from scalestudy.importers.reading import read_published

HEADER = "step,step_time_ms\n"


class _Harm:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch harmed",)


def refused(path: Path, **given: object) -> str:
    with pytest.raises(ValueError) as error:
        read_log(path, Given(**given))  # type: ignore[arg-type]
    assert type(error.value).__name__ == "UserError"
    return str(error.value)


def test_empty_and_missing(tmp_path: Path) -> None:
    empty = tmp_path / "empty.log"
    empty.write_text("")
    assert refused(empty) == f"{empty}: is empty; the run has written no log"
    empty.write_text("\n  \n")
    assert "is empty" in refused(empty)
    assert "no such file or directory; did you mean" in refused(tmp_path / "empt.log")
    assert "is not a file" in refused(Path("/dev/null"))
    os.mkfifo(tmp_path / "pipe")
    assert "is not a file" in refused(tmp_path / "pipe")
    assert "is a folder without runs of MLflow" in refused(tmp_path)


def test_a_pickle_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for protocol in range(2, 6):
        path = tmp_path / "metrics.csv"
        path.write_bytes(pickle.dumps([_Harm()], protocol=protocol))
        assert "is a pickle, which is never opened" in refused(path)
    path.write_bytes(pickle.dumps([_Harm()], protocol=0))
    assert "no known format" in refused(path)
    path.write_bytes(b"PK\x03\x04" + bytes(100))
    assert "is a zip archive" in refused(path)
    assert not (tmp_path / "harmed").exists()


def test_encodings(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    text = HEADER + "".join(f"{step},100\n" for step in range(1, 30))
    path.write_text(text, encoding="utf-16")
    assert "line 1: is UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8" in refused(path)
    path.write_bytes(text.encode() + "30,100 größer\n".encode("latin-1"))
    assert f"{path}, line 31: byte 10 is not UTF-8" in refused(path, devices=1)
    path.write_text(text, encoding="utf-8-sig")
    assert len(read_log(path, Given(devices=1))[0].columns["step"]) == 29
    path.write_bytes(b"\x00\x01\x02" * 100)
    assert "is a binary file of no known format" in refused(path)


def test_wide_and_endless_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("step_time_ms," + ",".join(f"c{number}" for number in range(30_000)) + "\n1\n")
    assert "line 1: 30001 columns; a log has at most 20000" in refused(path)
    with path.open("w") as file:
        file.write("step_time_ms")
        for _ in range(1000):
            file.write(",x" * 10_000)
        file.write("\n1\n")
    assert path.stat().st_size > 2e7
    assert "line 1: longer than 1 MiB" in refused(path)
    path.write_bytes(HEADER.encode() + b"1,100\n" + b"9" * (LONGEST_LINE + 1))
    assert "line 3: longer than 1 MiB, which no line of a log is" in refused(path, devices=1)
    path.write_text(HEADER + "1,100\n2,100,3\n2,100,3\n")
    assert f"{path}, line 3: 3 cells in a table of 2 columns; 2 rows have too many cells" in refused(
        path, devices=1
    )


def test_a_deep_json_and_a_huge_value(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text('{"best_metric": null, "log_history": [' + "[" * 100_000)
    assert "nested too deeply" in refused(path)
    path.write_text('{"best_metric": "' + "x" * (40 << 20) + '"}')
    assert "a value of more than 32 MiB, which no log has" in refused(path)
    path.write_text('{"best_metric": null, "log_history": 3}')
    assert "line 1: log_history: not an object" in refused(path)


def test_a_truncated_gzip_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    packed = gzip.compress((HEADER + "".join(f"{step},{step}.5\n" for step in range(1, 200_000))).encode())
    path.write_bytes(packed[: len(packed) // 2])
    assert "the gzip file is truncated or damaged" in refused(path, devices=1)


def test_no_known_format_says_what_was_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("epoch 1 loss 2.5\n" * 100)
    said = refused(path)
    assert "no line has both a step number and a time" in said
    assert "The formats of --format are mlperf, megatron" in said
    assert "is not in the format json" in _refused_as(path, "json")


def _refused_as(path: Path, name: str) -> str:
    with pytest.raises(ValueError) as error:
        read_log(path, Given(), name=name)
    return str(error.value)


STEPS = "".join(
    f'{{"ph": "X", "name": "ProfilerStep#{step}", "ts": 1.5, "dur": 100500.0}},\n' for step in range(20)
)
# The peak of getrusage would include that of pytest, which starts this.
LARGE = """
import sys
from pathlib import Path
from scalestudy.importers.logs.steps.derive import derive
from scalestudy.importers.logs.formats import is_table, read_log
from scalestudy.importers.logs.model import Given
from scalestudy.importers.reading import read_published
given = Given(devices=8, batch=64, per="all", rate="samples")
(log,) = read_log(Path(sys.argv[1]), given)
run = derive(log, given)
(peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")]
print(f"{run.step_s:.6f} {len(run.step_time_s)} {int(peak) / 1024:.0f}")
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "megatron", "trace"])
def test_half_a_gigabyte_is_read_in_half_a_gigabyte(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    line = {
        "csv": "%d,100.5,640.0,0.25,a note on this step which is text that nobody reads\n",
        "megatron": " iteration %8d/ 5000000 | consumed samples: 640 | elapsed time per iteration (ms): 100.5 |"
        " learning rate: 1.5E-04 | global batch size:    64 | lm loss: 3.25E+00 | loss scale: 1.0 |\n",
        "trace": '{"ph": "X", "cat": "user_annotation", "name": "aten::add_%d", "pid": 1, "tid": 1, "ts": 1.5,'
        ' "dur": 5.5, "args": {"External id": 1, "Record function id": 0, "Ev Idx": 0}},\n',
    }[kind]
    with path.open("w") as file:
        file.write(
            {
                "csv": "step,step_time_ms,samples/s,lr,note\n",
                "megatron": "",
                "trace": '{"traceEvents": [\n' + STEPS,
            }[kind]
        )
        number = 0
        while file.tell() < 500e6:
            file.write("".join(line % (number + one) for one in range(10_000)))
            number += 10_000
        file.write('{"ph": "M", "name": "end"}]}' if kind == "trace" else "")
    done = subprocess.run([sys.executable, "-c", LARGE, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    step_s, rows, mib = done.stdout.split()
    assert float(step_s) == pytest.approx(0.1005)
    assert int(rows) <= 200_000
    assert float(mib) <= 500


THIRTY_ROWS = "".join(f"| {devices} | {5 * devices} | 4 |\n" for devices in range(1, 31))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "| GPUs | img/s | batch per GPU |\n|--|--|--|\n| 1 | -5 | 4 |\n| 2 | inf | 4 |\n",
            "no row has a measurement",
        ),
        (
            "| GPUs | img/s | batch per GPU |\n|--|--|--|\n| 1 | 5 | 0.5 |\n",
            "the table has no batch; add --batch-per-gpu",
        ),
        (
            f"| GPUs | img/s | batch per GPU |\n|--|--|--|\n{THIRTY_ROWS}\n" * 40,
            "add --line N for one",
        ),
    ],
)
def test_tables_without_a_usable_row(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "a.md"
    path.write_text(content)
    assert is_table(path, None)
    with pytest.raises(ValueError) as error:
        logs_of_tables(read_published(path), path, Given(), scaling=None)
    assert str(path) in str(error.value)
    assert said in str(error.value)


def test_ten_million_columns(tmp_path: Path) -> None:
    for name, text in (("a.csv", "c," * 10**7 + "\n1\n"), ("a.md", "|a" * 10**7 + "\n" + "|-" * 10**7 + "\n")):
        path = tmp_path / name
        path.write_text(text)
        assert not is_table(path, None)
        assert "line 1: longer than 1 MiB" in refused(path, devices=1)
