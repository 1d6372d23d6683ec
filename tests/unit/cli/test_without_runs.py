"""`scalestudy estimate`: from numbers, and from the runs of a study; what is missing is named."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pandas as pd
import pytest
from builders import declared
from quantiphy import Quantity
from scalestudy.analyse.costs.collectives import RING, Link
from scalestudy.analyse.costs.links import KINDS
from scalestudy.cli.main import main
from scalestudy.cli.verb.without_runs import estimate, measured_of
from scalestudy.errors import UserError
from scalestudy.registry.words.counts import SI, in_words, scaled

LINK = Link(1e-4, 2e9)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A study of one process and two and four ranks, whose all-reduces follow the ring on LINK."""
    rows = []
    for ranks in (1, 2, 4):
        slope = (RING.time_s(2e8, ranks, LINK) - RING.time_s(1e8, ranks, LINK)) / 1e8
        rows.append(
            {
                "workload": "net",
                "is_base": ranks == 1,
                "protocol": 1,
                "world_size": ranks,
                "parameters": 1e7,
                "step_time_s": 0.05,
                "all_reduce_gib_per_s": None if ranks == 1 else 1 / slope / 2**30,
                "all_reduce_latency_s": None if ranks == 1 else RING.steps(ranks) * LINK.latency_s,
            }
        )
    summary = declared(pd.DataFrame(rows), "comprehensive_summary.csv")
    summary.to_csv(tmp_path / "comprehensive_summary.csv", index=False)
    return tmp_path


def test_it_reads_well_in_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["estimate", "--params", "7B", "--gpus", "16", "--bandwidth", "25GB/s", "--step-time", "1.2s"]
    assert main(command) == 0
    output = capsys.readouterr().out
    assert "7 billion parameters in fp32 give 28 GB" in output
    assert max(map(len, output.splitlines())) <= 80
    assert output.isascii()


def test_a_study_gives_its_numbers(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured = measured_of(pd.read_csv(results / "comprehensive_summary.csv"), None)
    assert (measured["params"], measured["step_time"]) == (1e7, 0.05)
    assert measured["bandwidth"] == pytest.approx(LINK.bandwidth_bytes_per_s)
    assert measured["latency"] == pytest.approx(LINK.latency_s)
    assert main(["estimate", "--results", str(results), "--gpus", "8"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "8 ranks; slowest link: 2 GB/s measured, latency 100 us per message" in output
    assert "The bandwidth was measured." in output


def test_what_is_given_comes_before_what_was_measured(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "--results", str(results), "--gpus", "8", "--bandwidth", "80Gbit/s"]) == 0
    assert "10 GB/s nominal" in " ".join(capsys.readouterr().out.split())
    assert main(["estimate", "--results", str(results), "--gpus", "8", "--measured-bandwidth", "3GB/s"]) == 0
    assert "3 GB/s measured" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--gpus", "8", "--bandwidth", "1GB/s"], "--params: missing; give it, or --results"),
        (["--gpus", "8", "--params", "1M"], "--bandwidth: missing; give it, or --results"),
        (["--gpus", "8", "--params", "1M", "--link", "roce"], "--results of a study with runs (roce has several"),
    ],
)
def test_what_is_missing_is_named(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (["--bandwidth", "10"], "not in bits or bytes per second"),
        (["--bandwidth", "fast"], "not a bandwidth such as 10Gbit/s"),
        (["--latency", "5"], "not a time with its unit"),
        (["--params", "0.5"], "a number of at least 1"),
        (["--params", "3 GB"], "a number of at least 1"),
        (["--params", "9" * 400], "a number of at least 1"),
    ],
)
def test_a_quantity_that_is_none_is_refused(
    argument: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["estimate", "--gpus", "8", *argument]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (["--measured-bandwidth", "1GB/s"], "--bandwidth, --measured-bandwidth: give one of them"),
        (["--target", "1"], "--target 1: not between 0 and 1, such as 0.9"),
        (["--target", "90"], "--target 90: not between 0 and 1, such as 0.9"),
        (["--step-time", "0s"], "--step-time 0s: not above 0"),
        (["--gpus", "1.5"], "1.5: not a whole number from 1 to 1e+09, such as 8"),
        (["--gpus", "1e300"], "1e300: not a whole number from 1 to 1e+09, such as 8"),
        (["--params", "1e300"], "--params: a network of about 1e+300 parameters fits no machine"),
        (["--params", "x=5"], "x=5: not a number such as 125M or 7B"),
        (["--optimizer-states", "-1"], "-1 is not in the range x>=0"),
        (["--workload", "mlp"], "--workload: names a workload of a study; add --results FOLDER or --study FILE"),
        (["--link", "nvlink9"], "'nvlink9' is not one of 'nvlink1'"),
        (
            ["--link", "nvlink3", "--bandwidth", "600GB/s"],
            "nvlink3 has 300 GB/s in one direction, and 600",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    argument: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["estimate", "--gpus", "8", "--params", "1M", "--bandwidth", "1GB/s", *argument]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--link", "nvlink3"], "slowest link: NVLink 3, 300 GB/s nominal"),
        (["--link", "nvlink3", "--bandwidth", "56GB/s"], "slowest link: NVLink 3, 56 GB/s nominal"),
        (["--link", "ethernet", "--bandwidth", "10Gbit/s"], "6 sources; they are few, which widens the limits"),
        (["--bandwidth", "32GB/s"], "32 GB/s is taken for PCIe; --link corrects it."),
        (["--bandwidth", "12.5GB/s"], "--link names the kind of link"),
    ],
)
def test_the_page_says_what_is_known_of_the_link(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["estimate", "--params", "25M", "--gpus", "8", *arguments]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert said in output
    assert "No less than: at nominal bandwidth" in output


def test_the_limits_of_a_step_are_printed_with_its_median(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["estimate", "--params", "125M", "--gpus", "8", "--link", "ethernet", "--bandwidth", "10Gbit/s"]
    assert main([*command, "--step-time", "180ms"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("ddp  ") and "median" in line)
    seconds = [float(Quantity(" ".join(line[37:50].split()))) for line in lines[first : first + 3]]
    median, low, high = seconds
    assert 0.18 * 0.9 <= low < median < high
    assert sum("90 %: from" in line for line in lines) == 3
    text = " ".join(" ".join(lines).split())
    assert re.search(
        r"90 % is expected if the computation of a step takes \d+ times as long \(median; no less", text
    )


def test_a_latency_that_was_not_given_is_listed_as_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["estimate", "--params", "7B", "--gpus", "8", "--link", "nvlink4", "--dtype", "bf16"]
    assert main(command) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "latency 20 us per message (assumed)" in output
    assert "* A latency of 20 us per message, which is in the steps" in output
    assert "ddp 24.5 GB 54.4 ms" in output
    assert main([*command, "--latency", "20us"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "(assumed)" not in output
    assert "A latency of" not in output
    assert "ddp 24.5 GB 205 ms" in output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--gpus", "8", "--link", "nvlink3"], "or a tree between two nodes, can shorten ddp to 333 us."),
        (["--gpus", "8", "--link", "pcie4"], "Strategies: by ring. Assumed"),
        (["--gpus", "2", "--link", "nvlink3"], "Strategies: by ring. Assumed"),
    ],
)
def test_the_page_says_by_which_algorithm_a_least_time_is(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["estimate", "--params", "25M", *arguments]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert said in output.replace(" ------- ", " ")


def test_one_rank_has_a_step_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "--params", "25M", "--gpus", "1", "--link", "pcie4", "--step-time", "1.2s"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "One rank does not communicate: its step is the given one, 1.2 s." in output


def test_a_target_that_the_best_case_reaches_is_said_to_be_in_reach(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["estimate", "--params", "334M", "--gpus", "8", "--link", "pcie4", "--step-time", "300ms"]
    assert main(command) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "times as long (median; in the best case it is reached now)." in output


def test_the_option_offers_every_kind_of_link() -> None:
    """The names are repeated there, so that --help does not import the analysis."""
    (option,) = [option for option in estimate.params if option.name == "kind"]
    assert isinstance(option.type, click.Choice)
    assert list(option.type.choices) == list(KINDS)


@pytest.mark.parametrize("ranks", ["1", "2"])
def test_a_fast_link_reaches_the_target(ranks: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["estimate", "--params", "25M", "--gpus", ranks, "--link", "nvlink4", "--step-time", "300ms"]
    assert main(command) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert ("ddp: an efficiency of 90 % is expected (median)." in output) == (ranks == "2")
    assert "the batch per rank must grow" not in output


def test_a_workload_has_to_be_one_of_the_study(results: Path) -> None:
    summary = pd.read_csv(results / "comprehensive_summary.csv")
    with pytest.raises(UserError, match="--workload other: the study has net"):
        measured_of(summary, "other")
    two = pd.concat([summary, summary.assign(workload="second")])
    with pytest.raises(UserError, match="the study has net, second; name one"):
        measured_of(two, None)


def test_quantities_have_the_units_that_the_field_uses(capsys: pytest.CaptureFixture[str]) -> None:
    """A slow link and a short step: no kilosecond, no exponent, and no efficiency of 0 %."""
    slow = ["estimate", "--params", "70B", "--gpus", "1024", "--bandwidth", "1Gbit/s", "--step-time", "250ms"]
    assert main(slow) == 0
    output = capsys.readouterr().out
    assert output.startswith("70 billion parameters ")
    assert max(map(len, output.splitlines())) <= 80
    assert not re.search(r"\dk|\d ks|e\+|\b0 %|\b0\.00\b", output)


@pytest.mark.parametrize(
    ("count", "said"),
    [(7e9, "7 B"), (1.3e12, "1.3 T"), (999.6e6, "1 B"), (151e3, "151 k"), (12, "12")],
)
def test_a_count_has_the_abbreviations_of_the_field_and_a_unit_those_of_the_si(count: float, said: str) -> None:
    assert scaled(count) == said
    assert scaled(count, SI) == said.replace("B", "G")


@pytest.mark.parametrize(
    ("count", "said"), [(7e9, "7 billion"), (125e6, "125 million"), (65000, "65000"), (999_999, "1 million")]
)
def test_a_number_of_parameters_in_a_sentence(count: float, said: str) -> None:
    assert in_words(count) == said
