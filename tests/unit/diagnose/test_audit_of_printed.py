"""Audits of tables in the style of published ones: what is wrong is found, and nothing else is said."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from bench.audit import KINDS, said
from bench.printed_tables import made, printed
from scalestudy.cli.main import main
from scalestudy.diagnose.audit import Audit, audit_file
from scalestudy.importers.reading import read_published


def audits(tmp_path: Path, text: str) -> list[Audit]:
    path = tmp_path / "table.md"
    path.write_text(text, encoding="utf-8")
    found, asked = audit_file(read_published(path), "table")
    assert not asked
    return found


def kinds(tmp_path: Path, text: str) -> list[tuple[str, int | None]]:
    return [(remark.kind, remark.gpus) for audit in audits(tmp_path, text) for remark in audit.remarks]


def markdown(*lines: str) -> str:
    """A table from lines with commas between the cells; the first is the header."""
    rows = [f"| {line.replace(',', ' | ')} |" for line in lines]
    return "\n".join([rows[0], "|---" * lines[0].count(",") + "|---|", *rows[1:]]) + "\n"


@pytest.mark.parametrize("seed", range(0, 120, 3))
def test_clean_tables_in_all_styles_have_no_remark(seed: int) -> None:
    table = made(seed)
    assert said(table)[0] == set(), printed(table)[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [7, 8])
def test_planted_errors_are_found(kind: str, seed: int) -> None:
    planted = KINDS[kind]
    table = planted.plant(made(seed, planted.need), random.Random(seed))
    found, why = said(table)
    assert found & planted.named, printed(table)[0]
    assert found <= planted.named | planted.follows, why


def test_strong_scaling_with_accumulation_called_weak(tmp_path: Path) -> None:
    """Micro-batches, or the batches of whole steps: either way the global batch is constant."""
    micro = ("GPUs,Batch / GPU,Accumulation steps,img/s,Weak scaling", "1,64,8,100,1.00", "8,64,1,760,7.60")
    whole = ("GPUs,Batch / GPU,Accumulation steps,img/s,Weak scaling", "1,512,8,100,1.00", "8,64,1,760,7.60")
    for lines in (micro, whole):
        assert kinds(tmp_path, markdown(*lines)) == [("label", None)]
    weak = ("GPUs,Batch / GPU,Accumulation steps,img/s,Weak scaling", "1,64,8,100,1.00", "8,64,8,760,7.60")
    assert kinds(tmp_path, markdown(*weak)) == []


def test_a_batch_per_device_may_hide_accumulation(tmp_path: Path) -> None:
    (audit,) = audits(tmp_path, markdown("GPUs,Batch/GPU,img/s,Strong scaling", "1,64,100,1.00", "8,64,760,7.60"))
    (remark,) = audit.remarks
    assert remark.sentence.endswith("weak scaling, unless gradients are accumulated, which the table does not say")


def test_rows_are_grouped_by_labels_and_batch(tmp_path: Path) -> None:
    lines = ["Model,GPUs,Batch/GPU,img/s,Speedup"]
    lines += [
        f"{name},{n},{b},{n * b * f:g},{n}" for name, f in (("A", 1), ("B", 3)) for n in (1, 4) for b in (8, 16)
    ]
    found = audits(tmp_path, markdown(*lines))
    assert {audit.case for audit in found} == {
        f"{name} batch per device {batch}" for name in "AB" for batch in (8, 16)
    }
    assert not any(audit.remarks for audit in found)


def test_other_baselines_are_tried_and_one_has_to_explain_all(tmp_path: Path) -> None:
    """The row before; a row of another series; but not one row for one number and another for the next."""
    before = markdown("GPUs,img/s,Speedup", "1,100,-", "2,190,1.90", "4,340,1.79", "8,580,1.71")
    (audit,) = audits(tmp_path, before)
    assert (audit.remarks, audit.speedups.kind) == ((), "before")
    other = markdown(
        "Setup,GPUs,img/s,Speedup", "plain,1,100,1.00", "fused,1,150,1.50", "fused,2,280,2.80", "fused,4,500,5.00"
    )
    (audit,) = [audit for audit in audits(tmp_path, other) if len(audit.table.scales) > 2]
    assert ("speedup", 2) not in {(remark.kind, remark.gpus) for remark in audit.remarks}
    mixed = markdown("GPUs,img/s,Speedup", "1,100,1.00", "2,190,1.90", "4,340,3.40", "8,580,1.71")
    assert kinds(tmp_path, mixed) == [("speedup", 8)]


def test_speedups_over_a_processor(tmp_path: Path) -> None:
    text = markdown("Devices,Epoch time (s),Speedup", "CPU,100,1.0", "1,10,10.0", "2,6,16.7", "4,4,25.0")
    assert kinds(tmp_path, text) == []


def test_a_baseline_that_is_wrong_is_one_remark(tmp_path: Path) -> None:
    text = markdown("GPUs,img/s,Speedup", "1,110,1.00", "2,190,1.90", "4,340,3.40", "8,580,5.80")
    (audit,) = audits(tmp_path, text)
    (remark,) = audit.remarks
    assert (remark.kind, remark.gpus) == ("speedup", 1)
    assert "all printed speedups are relative to a throughput of 100" in remark.sentence


@pytest.mark.parametrize("what", ["Hardware", "Framework", "Strategy"])
def test_what_changes_within_a_series_is_said(tmp_path: Path, what: str) -> None:
    text = markdown(f"{what},GPUs,img/s,Efficiency", "A,2,100,100%", "A,4,190,95%", "B,8,300,91%")
    (audit,) = audits(tmp_path, text)
    assert [remark.kind for remark in audit.remarks] == ["confounded"]
    assert f"the {what.lower()} changes between rows (A on 2, A on 4, B on 8)" in audit.remarks[0].sentence
    assert audit.checked.efficiencies == 0


def test_another_model_is_another_series_unless_its_ratio_is_over_the_first(tmp_path: Path) -> None:
    own = markdown("Model,GPUs,img/s,Efficiency", "A,2,100,100%", "A,4,190,95%", "B,8,300,91%")
    (audit,) = audits(tmp_path, own)
    assert ([scale.row.gpus for scale in audit.table.scales], audit.remarks) == ([2, 4], ())
    over_the_first = markdown("Model,GPUs,img/s,Efficiency", "A,2,100,100%", "A,4,190,95%", "B,8,364,91%")
    (audit,) = audits(tmp_path, over_the_first)
    assert [remark.kind for remark in audit.remarks] == ["confounded"]


def test_columns_of_two_precisions_that_are_exchanged(tmp_path: Path) -> None:
    head = "GPUs,Throughput - FP32,Throughput - mixed precision,Throughput speedup (FP32 to mixed precision)"
    text = markdown(head, "1,67.95,44.65,1.52", "4,258.56,170.18,1.52")
    assert kinds(tmp_path, text) == [("precision", None)]


def test_throughput_in_tokens_is_not_held_against_samples(tmp_path: Path) -> None:
    """A sequence has 512 tokens in both rows."""
    text = markdown("GPUs,Batch/GPU,Step time (ms),tokens/s", "1,8,100,40960", "2,8,110,74473")
    assert kinds(tmp_path, text) == []
    text = markdown("GPUs,Batch/GPU,Step time (ms),samples/s", "1,8,100,80", "2,8,110,160")
    assert kinds(tmp_path, text) == [("throughput against step time", 2)]


def test_a_rate_that_other_rows_contradict_by_their_work(tmp_path: Path) -> None:
    """1000 files in all rows but the last; also if speedups follow from the times."""
    rows = ["1,2.462 s,406,1.00x", "2,1.328 s,753,1.85x", "4,0.640 s,1562,3.85x", "8,0.369 s,2873,6.67x"]
    text = markdown("Workers,Time,files/s,Speedup", *rows)
    assert kinds(tmp_path, text) == [("throughput against time", 8)]
    assert kinds(tmp_path, text.replace("2873", "2710")) == []
    growing = markdown("Workers,Time,files/s", "1,2.0 s,500", "2,2.1 s,952", "4,2.2 s,1818", "8,2.0 s,4000")
    assert "throughput against time" not in dict(kinds(tmp_path, growing))
    two = markdown("Workers,Time,files/s", "1,2.0 s,500", "2,1.0 s,1000", "4,0.5 s,1800")
    assert kinds(tmp_path, two) == []  # two rows that agree may do so by chance


def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, *options: str) -> tuple[int, str, str]:
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    status = main(["audit", str(path), *options])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize(
    ("text", "question", "answers"),
    [
        (
            "GPUs,Speed\n1,329\n8,307\n",
            "hardly changes from 1 to 8 devices (329 to 307). Is this per device?",
            {"--column Speed=throughput_per_gpu": 0, "--column Speed=throughput": 1},
        ),
        (
            "GPUs,ms/step\n1,100\n2,105\n",
            "is the batch per device constant, or the global batch?",
            {"--scaling weak": 0, "--scaling strong": 1},
        ),
        (
            "GPUs,ms/step,Batch size\n1,100,64\n2,105,64\n",
            "is Batch size per device or of all devices?",
            {"--column 'Batch size=batch_per_gpu'": 0, "--column 'Batch size=global_batch'": 1},
        ),
    ],
)
def test_what_the_file_does_not_say_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, question: str, answers: dict[str, int]
) -> None:
    status, _, error = run(tmp_path, capsys, text)
    assert status == 2
    assert question in error
    for answer, expected in answers.items():
        options = [word.strip("'") for word in answer.replace("'Batch size", "Batch_size").split()]
        assert run(tmp_path, capsys, text, *options)[0] == expected, answer


def test_a_mapping_file_answers_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "columns.yaml").write_text("Speed: throughput_per_gpu\n")
    text = "GPUs,Speed\n1,329\n8,307\n"
    assert run(tmp_path, capsys, text, "--columns", str(tmp_path / "columns.yaml"))[0] == 0
    for content, why in (
        ("- Speed", "a line HEADER: KIND"),
        ("a: [", "not valid YAML"),
        ("Speed: 3", "a line HEADER"),
    ):
        (tmp_path / "columns.yaml").write_text(content)
        status, _, error = run(tmp_path, capsys, text, "--columns", str(tmp_path / "columns.yaml"))
        assert (status, why in error) == (2, True)


def test_times_that_do_not_fall_are_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whether devices slow the same work down, or have more of it, is not in the table."""
    text = "GPUs,Time\n1,100\n8,104\n"
    status, output, error = run(tmp_path, capsys, text)
    assert (status, output) == (2, "")
    assert "Time: grows from 1 to 8 devices (100 to 104). Is it the time of constant work?" in error
    strong, output, _ = run(tmp_path, capsys, text, "--scaling", "strong")
    assert (strong, "NEGATIVE SCALING" in output) == (1, True)
    weak, output, _ = run(tmp_path, capsys, text, "--scaling", "weak")
    assert (weak, "96.2" in output) == (0, True)


@pytest.mark.parametrize(
    ("text", "kinds_of_remarks"),
    [
        ("GPUs,Time (s)\n1,100\n2,80\n4,110\n", ["negative scaling", "turns back"]),
        ("GPUs,Epoch time (s)\n1,100\n2,104\n", ["negative scaling"]),
        ("GPUs,Time (s),Speedup\n1,100,1.00\n2,104,1.60\n", ["speedup", "negative scaling"]),
        ("GPUs,Time (s),Weak scaling\n1,100,1.00\n2,104,0.96\n", []),
    ],
    ids=["falls once", "an epoch", "a printed speedup", "called weak"],
)
def test_the_work_of_times_that_do_not_fall_may_be_stated(
    tmp_path: Path, text: str, kinds_of_remarks: list[str]
) -> None:
    """A time that is shorter on some devices, an epoch and printed speedups are of constant work."""
    found = {kind for kind, _ in kinds(tmp_path, text)}
    assert found <= set(kinds_of_remarks)
    assert set(kinds_of_remarks) - {"turns back"} <= found


def test_a_forecast_asks_for_what_an_audit_asks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "table.csv").write_text("GPUs,Time\n1,100\n2,101\n4,104\n", encoding="utf-8")
    assert main(["forecast", str(tmp_path / "table.csv")]) == 2
    assert "Is it the time of constant work? Add --scaling strong" in capsys.readouterr().err
    assert main(["forecast", str(tmp_path / "table.csv"), "--scaling", "weak"]) == 0


def test_a_file_with_one_open_question_still_prints_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = markdown("GPUs,img/s,Speedup", "1,100,1.0", "2,190,1.9") + "\n" + markdown("GPUs,Speed", "1,9", "2,8")
    status, output, error = run(tmp_path, capsys, text)
    assert status == 2
    assert "2 speedups) follow from the throughputs" in " ".join(output.split())
    assert "line 6, Speed: hardly changes from 1 to 2 devices (9 to 8). Is this per device?" in error


def test_only_numbers_that_were_checked_are_called_consistent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, output, _ = run(tmp_path, capsys, "GPUs,img/s,Memory\n1,100,9\n2,190,9\n")
    assert "Not read: Memory." in output
    assert "follow from the throughputs" not in output
    assert "No printed speedup or efficiency was checked for this case" in " ".join(output.split())


def test_a_list_that_ends_with_an_abbreviation_has_one_full_stop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, output, _ = run(tmp_path, capsys, "GPUs,img/s,Memory max.\n1,100,9\n2,190,9\n")
    assert "Not read: Memory max.\n" in output


def test_a_series_that_grows_shows_whose_the_throughput_of_the_others_is(tmp_path: Path) -> None:
    """A strategy that gains nothing does not make its column one per device."""
    lines = ("Strategy,GPUs,img/s", "ddp,1,100", "ddp,4,350", "fsdp,1,90", "fsdp,4,95")
    found = audits(tmp_path, markdown(*lines))
    assert [round(audit.table.scales[-1].speedup.value, 2) for audit in found] == [3.5, 1.06]


def test_a_step_from_4_to_5_devices_grows_with_them(tmp_path: Path) -> None:
    (audit,) = audits(tmp_path, markdown("GPUs,tok/s", "4,100", "5,120"))
    assert audit.table.scales[-1].efficiency.value == pytest.approx(0.96)


def test_proportional_columns_are_asked_about_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "GPUs,Tokens/sec,TFLOPS\n8,1480,341\n16,1438,331\n32,1428,329\n"
    status, _, error = run(tmp_path, capsys, text)
    assert (status, error.count("Is this per device?")) == (2, 1)
    status, output, _ = run(tmp_path, capsys, text, "--column", "Tokens/sec=throughput_per_gpu")
    assert (status, output.count("Baseline: 8 GPUs")) == (0, 1)


def test_steps_below_speed_are_no_throughput(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, _, error = run(tmp_path, capsys, "GPUs,Speed\n1,1.2 it/s\n2,1.1 it/s\n")
    assert "is the batch per device constant, or the global batch?" in error
    status, output, _ = run(tmp_path, capsys, "GPUs,Speed,Training time\n1,1.2 it/s,14 h\n2,1.5 it/s,8 h\n")
    assert (status, "Speed: steps per time" in output, "1.75" in output) == (0, True, True)


def test_a_variant_of_the_row_above_is_a_series_of_its_own(tmp_path: Path) -> None:
    """Its speedups are relative to the row that it belongs to."""
    lines = ("Method,1 GPU,2 GPUs", "A,10.0 s,5.0 s (2.0x)", "+ cache,5.0 s (2.0x),4.0 s (2.5x)")
    lines += ("B,20.0 s,12.5 s (1.6x)", "+ cache,10.0 s (2.0x),8.0 s (2.5x)")
    found = audits(tmp_path, markdown(*lines))
    assert [audit.case for audit in found] == ["A", "A + cache", "B", "B + cache"]
    assert {remark.kind for audit in found for remark in audit.remarks} == set()


def test_speedups_that_are_not_1_on_one_device_are_of_something_else(tmp_path: Path) -> None:
    text = markdown("GPUs,img/s,Speedup", "1,100,2.50", "2,190,2.10", "4,350,1.80")
    (audit,) = audits(tmp_path, text)
    assert [(remark.kind, remark.gpus) for remark in audit.remarks] == [("no base case", 1)]


def test_quantities_in_one_cell(tmp_path: Path) -> None:
    lines = ("GPUs,theirs,ours,ours faster by", "1,48 ms · 67k tok/s,44 ms · 74k,1.10x")
    lines += ("4,75 ms · 174k,68 ms · 193k,1.11x", "8,53 ms · 248k,52 ms · 252k,1.02x")
    found = audits(tmp_path, markdown(*lines))
    assert [round(audit.table.scales[-1].speedup.value, 2) for audit in found] == [3.7, 3.41]
    assert found[0].checked.precisions == 3
    assert not any(audit.remarks for audit in found)


def test_batches_that_are_counted_are_no_batch_size(tmp_path: Path) -> None:
    lines = ("GPUs,Sync every X minibatches,Time per epoch (s)", "1,1,109.8", "4,1,29.4", "4,3,27.5")
    found = audits(tmp_path, markdown(*lines))
    assert [round(audit.table.scales[-1].speedup.value, 2) for audit in found] == [3.73]
