"""The work of a step in scaling tables: samples or tokens, of one device or of all, and rows that contradict
themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.analyse.published.runs import logs_of_tables
from scalestudy.errors import UserError
from scalestudy.importers.columns.meanings import Corrections
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.steps.derive import ImportedRun, derive
from scalestudy.importers.reading import read_published


def imported(path: Path, columns: dict[str, str] | None = None, **said: object) -> list[ImportedRun]:
    given = Given(**said)  # type: ignore[arg-type]
    file = read_published(path, Corrections(columns or {}))
    return [derive(log, given) for log in logs_of_tables(file, path, given, scaling=None)]


def written(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "said", "rates"),
    [
        ("gpus,images/s\n1,410\n2,400\n4,390\n", {"batch_per_gpu": 64}, [410, 800, 1560]),
        (
            "gpus,batch per gpu,tokens/s\n1,8,3010\n2,8,2980\n8,8,2890\n",
            {"sequence_length": 2048},
            [3010, 5960, 23120],
        ),
        ("gpus,images/s/gpu\n1,410\n2,400\n4,390\n", {"batch_per_gpu": 64}, [410, 800, 1560]),
    ],
)
def test_a_throughput_of_a_device_is_multiplied_once(
    tmp_path: Path, text: str, said: dict[str, int], rates: list[float]
) -> None:
    runs = imported(written(tmp_path, text), per="device", **said)
    assert [run.throughput for run in runs] == pytest.approx(rates)


@pytest.mark.parametrize(("header", "per"), [("total img/s", "device"), ("img/s/GPU", "all")])
def test_an_option_against_the_header_is_refused(tmp_path: Path, header: str, per: str) -> None:
    path = written(tmp_path, f"GPUs,{header}\n1,410\n4,1200\n")
    with pytest.raises(UserError, match=rf"line 1, {header}: is read as .*, not as --per {per} says; .* --column"):
        imported(path, per=per, batch=64)


@pytest.mark.parametrize(
    ("text", "said", "why"),
    [
        (
            "GPUs,seconds per step,batch per GPU,samples/s\n1,0.156,64,410\n4,0.175,64,900\n",
            {},
            r"line 3: 900 samples/s on all devices times 175 ms per step are 157.5 samples, and a step is 256",
        ),
        (
            "GPUs,it/s,batch per GPU,tokens/s\n1,6.4,64,52400\n4,5.7,64,90000\n",
            {"sequence_length": 128},
            r"line 3: 9e\+04 tokens/s on all devices times 175.4 ms per step are 1.579e\+04 tokens, and a step is"
            r" 32768",
        ),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(
    tmp_path: Path, text: str, said: dict[str, int], why: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError, match=why) as error:
        imported(path, **said)
    column = text.split(",")[1]
    assert f"--column '{column}=ignore'" in str(error.value)
    assert len(imported(path, {column: "ignore"}, **said)) == 2


def test_the_rounding_of_printed_numbers_is_no_contradiction(tmp_path: Path) -> None:
    text = "GPUs,seconds per step,batch per GPU,samples/s\n1,0.2,64,410\n4,0.2,64,1460\n"
    assert [run.throughput for run in imported(written(tmp_path, text))] == [410, 1460]


@pytest.mark.parametrize("header", ["Batch (tokens)", "global batch size (in tokens)", "tokens per batch"])
def test_a_batch_that_counts_tokens(tmp_path: Path, header: str) -> None:
    path = written(tmp_path, f"GPUs,Tokens per second,{header}\n1,12.5k,65536\n8,95k,524288\n")
    first, second = imported(path)
    assert [(run.global_batch, run.unit) for run in (first, second)] == [(65536, "tokens"), (524288, "tokens")]
    _, second = imported(path, batch=65536)
    assert any(f"and not 524288, as {header} says" in remark for remark in second.remarks)


def test_thousands_of_tokens_and_tokens_of_steps_with_a_time(tmp_path: Path) -> None:
    path = written(tmp_path, "GPUs,ms/step,Batch (k tokens)\n1,500,64\n8,520,512\n")
    assert [(run.global_batch, run.unit) for run in imported(path)] == [(64000, "tokens"), (512000, "tokens")]


def test_a_batch_of_samples_beside_tokens_per_second_needs_their_length(tmp_path: Path) -> None:
    path = written(tmp_path, "gpus,batch per gpu,tokens/s\n1,8,3010\n8,8,23000\n")
    with pytest.raises(UserError, match="batch per gpu perhaps samples; add --sequence-length N, or") as error:
        imported(path)
    assert "--batch" not in str(error.value)
    assert [run.global_batch for run in imported(path, sequence_length=2048)] == [16384, 131072]
    path = written(tmp_path, "gpus,Batch (tokens),images/s\n1,6400,100\n8,51200,780\n")
    with pytest.raises(UserError, match="counts tokens, and the throughput samples; add --sequence-length N"):
        imported(path)
    assert [run.global_batch for run in imported(path, sequence_length=100)] == [64, 512]


def test_a_throughput_of_a_device_beside_one_of_all_contradicts_per_device(tmp_path: Path) -> None:
    path = written(tmp_path, "GPUs,Global batch,img/s,img/s per GPU\n1,64,160,160\n2,128,310,155\n4,256,600,150\n")
    assert [run.throughput for run in imported(path)] == pytest.approx([160, 310, 600])
    with pytest.raises(UserError, match=r"line 3: img/s and img/s per GPU are not both per device"):
        imported(path, per="device")
