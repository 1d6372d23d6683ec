"""Audits of published tables: every inconsistency that is known to be in them is found, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from published_schemas import check_json
from published_tables import DATA
from scalestudy.cli.main import main
from scalestudy.diagnose.audit import Audit, AuditFile, audit_file
from scalestudy.errors import UserError
from scalestudy.importers.numbers.printed import Printed, read_printed
from scalestudy.importers.reading import read_published
from scalestudy.record.document import read_document

# What is wrong with the published tables, or has to be said of them. All other cases are clean.
KNOWN = {
    "pytorch-ddp-resnet50": {("two base cases", 1)},
    "pytorch-ddp-resnet101": {("two base cases", 1)},
    "pytorch-ddp-resnext50": {("two base cases", 1)},
    "pytorch-ddp-resnext101": {("two base cases", 1)},
    "dlperf-rn50-dataloader-8workers": {("limit of a node", 8)},
    "dle-bert-dgx2-fp16-b7": {("speedup", 4)},
    "dle-rn50-dgxa100-tf32": {("label", None)},
    "dle-rn50-dgxa100-amp": {("label", None)},
    "strong-rn152-v100-fp16": {("turns back", 8)},
    "llm-foundry-mpt-1b-h100": {("confounded", None)},
    "llm-foundry-mpt-3b-h100": {("confounded", None)},
    "llm-foundry-mpt-70b-h100": {("confounded", None)},
    "mlp-b256": {("negative scaling", 2), ("efficiency not printed", 2)},
    "imdb": {("no base case", None)},
    "agnews": {("no base case", None), ("negative scaling", 4)},
}


def audits(path: Path) -> dict[str, Audit]:
    found, asked = audit_file(read_published(path), path.stem)
    assert not asked
    return {audit.case: audit for audit in found}


def written(tmp_path: Path, text: str) -> dict[str, Audit]:
    path = tmp_path / "table.csv"
    path.write_text(text)
    return audits(path)


@pytest.mark.parametrize("name", ["published", "seeds"])
def test_what_is_known_is_found_and_nothing_else(name: str) -> None:
    for case, audit in audits(DATA / f"{name}.csv").items():
        assert {(remark.kind, remark.gpus) for remark in audit.remarks} == KNOWN.get(case, set()), case


def test_every_printed_number_is_recomputed_within_rounding() -> None:
    """But for the one that is wrong."""
    wrong = []
    for name in ("published", "seeds"):
        for case, audit in audits(DATA / f"{name}.csv").items():
            for scale in audit.table.scales:
                printed = scale.row.printed_speedup
                if printed and abs(printed.value - scale.speedup.value) > printed.last:
                    wrong.append((case, scale.row.gpus))
                printed = scale.row.printed_efficiency
                assert not printed or abs(printed.value - scale.efficiency.value) <= printed.last
    assert wrong == [("dle-bert-dgx2-fp16-b7", 4)]


def sentence(name: str, case: str) -> str:
    return " ".join(remark.sentence for remark in audits(DATA / f"{name}.csv")[case].remarks)


def test_what_the_sentences_say() -> None:
    """Figures that a reader would check first."""
    slow = sentence("seeds", "mlp-b256")
    assert "0.37 times the work of 1, an efficiency of 18 %" in slow
    assert "33.8 ms longer" in slow
    assert "82 % of the step" in slow
    assert "printed 3.8, but the throughputs give 3.56" in sentence("published", "dle-bert-dgx2-fp16-b7")
    two = sentence("published", "pytorch-ddp-resnet50")
    assert "0.930 relative to single on 1 and 0.959 relative to ddp on 1" in two
    assert "Karp-Flatt fraction rises (0.461, 0.548, 0.633)" in sentence("published", "strong-rn152-v100-fp16")
    assert "called strong, but the batch per device is constant: this is weak scaling" in sentence(
        "published", "dle-rn50-dgxa100-amp"
    )
    assert "most likely its input" in sentence("published", "dlperf-rn50-dataloader-8workers")
    assert "14 on 8, 20 on 64" in sentence("published", "llm-foundry-mpt-1b-h100")


HEAD = "case,gpus,batch_per_gpu,step_time_ms,throughput,printed_speedup\n"


@pytest.mark.parametrize(
    ("rows", "kind", "said"),
    [
        ("a,2,8,10,1600,\n", "one scale", "only 2 devices were measured"),
        ("a,1,8,10,800,\na,2,8,20,400,\n", "negative scaling", "0.50 times the work"),
        ("a,1,8,10,800,\na,2,8,20,1600,2.0\n", "throughput against step time", "are 800 samples/s, but 1600"),
        ("a,1,8,10,800,\na,2,8,10,1600,1.5\n", "speedup", "printed 1.5, but the throughputs give 2.00"),
        ("a,1,8,10,800,\na,1,8,10,800,\na,2,8,11,1455,\n", "printed twice", "lines 2 and 3"),
        ("a,1,8,10,800,\na,2,16,20,1600,\n", "confounded", "8 on 1, 16 on 2"),
        ("a,1,8,0,,\na,2,8,10,1600,\na,4,8,10,3200,\n", "not positive", "line 2"),
        ("a,1,8,10,-800,\na,2,8,10,1600,\na,4,8,10,3200,\n", "not positive", "line 2"),
        (
            "a,1,8,10,800,\na,2,8,4,4000,\n",
            "faster than its devices",
            "5 times the baseline on 2 times its devices",
        ),
        ("a,2,8,,,1.9\na,4,8,,,3.7\n", "no base case", "nothing can be recomputed"),
    ],
)
def test_bad_tables_are_told_what_is_wrong(tmp_path: Path, rows: str, kind: str, said: str) -> None:
    remarks = written(tmp_path, HEAD + rows)["a"].remarks
    assert [remark.kind for remark in remarks if said in remark.sentence] == [kind]


def test_speedups_over_a_base_that_is_not_in_the_table(tmp_path: Path) -> None:
    """Eight devices are 2.0 times four: printed speedups of 3.5 and 7.0 agree, 3.5 and 7.9 do not."""
    rows = "a,4,8,,800,3.5\na,8,8,,1600,{}\n"
    (agrees,) = written(tmp_path, HEAD + rows.format("7.0"))["a"].remarks
    assert agrees.kind == "no base case"
    assert "printed as 3.5x, but no smaller scale has a throughput" in agrees.sentence
    kinds = [remark.kind for remark in written(tmp_path, HEAD + rows.format("7.9"))["a"].remarks]
    assert kinds == ["no base case", "speedup"]


def test_what_can_still_be_said_is_said(tmp_path: Path) -> None:
    """A row without a measurement is left out; the others are compared."""
    table = written(tmp_path, HEAD + "a,1,8,0,,\na,2,8,10,1600,\na,4,8,10,3000,\n")["a"].table
    assert table.base is not None
    assert (table.base.gpus, [scale.row.gpus for scale in table.scales]) == (2, [2, 4])
    assert table.scales[1].efficiency.value == pytest.approx(0.9375)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("size,throughput\n1,2\n", "no column of devices, such as gpus; its columns are size, throughput"),
        ("gpus,loss\n1,2\n", "no column of a throughput, a step time or a speedup; its columns are gpus, loss"),
        ("gpus,throughput\n1,fast\n", "line 2, throughput: 'fast' is not a number"),
        ("gpus,throughput\n0,12\n", "line 2 is a serial run or on no device, so it is no scale"),
        ("gpus,throughput\n,12\n", "line 2: no number of devices"),
        ("gpus,throughput\n", "no rows below the header"),
        ("", "is empty; name a file with a table of scaling"),
        (" \n\t\n", "is empty; name a file with a table of scaling"),
        ("\ufeff", "is empty; name a file with a table of scaling"),
        ("gpus\n1\n2\n", "no column of a throughput, a step time or a speedup; its columns are gpus"),
    ],
)
def test_a_file_that_is_no_table_is_refused_in_words(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        written(tmp_path, text)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "value", "last"),
    [("7.60", 7.6, 0.01), ("33700", 33700, 1), ("87.3%", 87.3, 0.1), ("1.75x", 1.75, 0.01), ("1.2e3", 1200, 100)],
)
def test_a_printed_number_knows_its_digits(text: str, value: float, last: float) -> None:
    assert read_printed(text) == Printed(value, pytest.approx(last))


def test_the_command_reads_well_and_ends_with_its_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", str(DATA / "published.csv"), "--out", str(tmp_path / "remarks.json")]) == 1
    output = capsys.readouterr().out
    assert "12 of 24 cases with remarks." in output
    assert max(map(len, output.splitlines())) <= 80
    assert output.isascii()
    assert any("resnext101" in case for case in read_document(tmp_path / "remarks.json", AuditFile).cases)
    check_json(tmp_path / "remarks.json", "audit")
    clean = tmp_path / "clean.csv"
    clean.write_text("gpus,throughput\n1,100\n2,196\n")
    assert main(["audit", str(clean)]) == 0
    assert "No remarks" in capsys.readouterr().out
