"""`scalestudy run`: Snakemake with the right arguments, in the right place, and with its exit status."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import BIN, Checkout, tiny_study
from scalestudy.chain import launches
from scalestudy.chain.config import OWN_RULES
from scalestudy.cli import this_host
from scalestudy.cli.main import main
from scalestudy.cli.verb.run import snakemake_line
from scalestudy.project import root


def planned(output: str) -> int:
    """Runs that a dry run would measure."""
    table = output.split("Job stats:")[1]
    return sum(map(int, re.findall(r"^train_(?:baseline|distributed) +(\d+)$", table, flags=re.M)))


@pytest.mark.parametrize("below", [pytest.param("", marks=pytest.mark.slow), "config"])
def test_a_checkout_is_run_from_anywhere_in_it(checkout: Checkout, below: str) -> None:
    done = checkout.run("scalestudy", "run", "-n", at=checkout.root / below).stdout
    assert planned(done) == 4
    assert "results/tiny/runs/first-single-" in done
    assert done.startswith("tiny: 4 runs; at most 2 ranks at once"), "the cost comes first"


@pytest.mark.parametrize("option", ["--allow-shared", "--python=/usr/bin/python3"])
def test_an_option_for_scripts_is_refused_where_there_is_none(checkout: Checkout, option: str) -> None:
    done = checkout.run("scalestudy", "run", "-n", option, check=False)
    assert done.returncode == 2
    name = option.partition("=")[0]
    assert f"{name}: only for workloads with a `command`, which this study does not have" in done.stdout


@pytest.mark.parametrize(("option", "key"), [("--device=auto", "host.device"), ("--repeats=3", "repeats")])
def test_an_option_for_a_script_is_refused_with_the_key_of_a_study(
    option: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--study", "any.yaml", option]) == 2
    said = f"{option.partition('=')[0]}: only for a script after `--`; set {key} in the study file instead"
    assert said in capsys.readouterr().err


def test_a_study_is_named_by_files_or_by_results(checkout: Checkout) -> None:
    (checkout.root / "more.yaml").write_text(yaml.safe_dump({"study": "more", "repeats": 2}))
    done = checkout.run("scalestudy", "run", "--study", "config/config.yaml", "more.yaml", "-n").stdout
    assert planned(done) == 8
    assert "results/more/runs/first-single-" in done
    checkout.run("scalestudy", "stage", "plan", "--study", "config/config.yaml", "more.yaml")
    again = checkout.run("scalestudy", "run", "--results", "results/more", "--dry-run").stdout
    assert planned(again) == 8
    other = checkout.run("scalestudy", "run", "--study", "config/config.yaml", "--results", "here", check=False)
    assert other.returncode == 2
    assert "--results here: study tiny runs in results/tiny; leave --results out" in other.stdout
    (checkout.root / "results/more").rename(checkout.root / "results/moved")
    moved = checkout.run("scalestudy", "run", "--results", "results/moved", "-n", check=False)
    assert moved.returncode == 2
    assert "--results results/moved: study more runs in results/more; use --study FILE" in moved.stdout


def test_an_empty_folder_uses_the_rules_of_the_package(checkout: Checkout, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "mine.yaml").write_text(yaml.safe_dump(tiny_study() | {"study": "mine"}))
    done = checkout.run("scalestudy", "run", "--study", "mine.yaml", "-n", at=empty).stdout
    assert planned(done) == 4
    assert "results/mine/runs/first-single-" in done
    assert "workflow specific profile" in done


@pytest.mark.parametrize("home", [pytest.param("/proc", marks=pytest.mark.slow), "/dev/null"])
def test_a_user_without_a_home_has_a_cache(home: str, checkout: Checkout) -> None:
    """As in a container that is run with somebody's number."""
    environment = {name: value for name, value in checkout.environment.items() if name != "XDG_CACHE_HOME"}
    line = [str(BIN / "scalestudy"), "run", "-n"]
    done = subprocess.run(
        line, cwd=checkout.root, env=environment | {"HOME": home}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (checkout.root / ".snakemake/cache").is_dir()


def test_arguments_and_exit_status_are_snakemakes(checkout: Checkout) -> None:
    target = "results/tiny/plan.json"
    done = checkout.run("scalestudy", "run", target, "--cores", "1", "--quiet")
    assert (checkout.root / target).is_file(), done.stdout
    refused = checkout.run("scalestudy", "run", "no/such/target", check=False)
    assert refused.returncode == 1
    assert "MissingRuleException" in refused.stdout
    other = checkout.run("scalestudy", "run", "-n", "--config", "repeats=3").stdout
    assert planned(other) == 12
    assert "launches, at most" not in other, "the cost would be of another study"


def test_a_bad_study_is_refused_before_snakemake_starts(checkout: Checkout) -> None:
    checkout.configure(tiny_study() | {"repeatz": 3})
    done = checkout.run("scalestudy", "run", check=False)
    assert done.returncode == 2
    assert done.stdout.startswith(
        "scalestudy run: config/config.yaml: the study is refused\n  repeatz: unknown key"
    )


def test_a_profile_is_found_by_its_name(tmp_path: Path) -> None:
    line = snakemake_line((), root(), "slurm")
    assert line[-2:] == ["--profile", str(root() / "profiles/slurm")]
    assert snakemake_line((), root(), "mine")[-1] == "mine"
    assert snakemake_line((), tmp_path, "slurm")[-1] == str(root() / "profiles/slurm")
    (tmp_path / "profiles/slurm").mkdir(parents=True)
    assert snakemake_line((), tmp_path, "slurm")[-1] == str(tmp_path / "profiles/slurm"), "the user's own"


def test_another_workflow_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "workflow").mkdir()
    snakefile = tmp_path / "workflow/Snakefile"
    snakefile.write_text("rule all:\n    input: 'table.csv'\n")
    assert str(root() / "workflow/Snakefile") in snakemake_line((), tmp_path, None)
    snakefile.write_text("module scaling:\n    snakefile: github('scalestudy/scalestudy')\n")
    assert "--snakefile" not in snakemake_line((), tmp_path, None), "a workflow that imports ours"


def test_a_trial_within_another_workflow_runs_our_own_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its Snakefile has other targets and a config in which the study is a part."""
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow/Snakefile").write_text("module scaling:\n    snakefile: scalestudy.snakefile()\n")
    monkeypatch.setenv(OWN_RULES, "1")
    line = snakemake_line((tmp_path / "trial.yaml",), tmp_path, None)
    assert line[line.index("--snakefile") + 1] == str(root() / "workflow/Snakefile")
    assert line[line.index("--configfile") + 1] == "trial.yaml"


def test_without_torch_runs_are_refused_before_snakemake_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(this_host, "find_spec", lambda name: None)
    monkeypatch.setattr(os, "execv", lambda program, line: pytest.fail("started"))
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    Path("mine.yaml").write_text(yaml.safe_dump(tiny_study()))
    assert main(["run", "--study", "mine.yaml"]) == 2
    assert "PyTorch is missing. Install the build for this machine" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["-n"], {}),
        (["--profile", "slurm"], {}),
        (["--executor=slurm"], {}),
        ([], {"SLURM_JOB_ID": "7"}),
        ([], {"SCALESTUDY_HOSTS": "a,b"}),
        ([], {"SCALESTUDY_PYTHON": "/a/python"}),
    ],
)
def test_torch_may_be_missing_where_nothing_is_measured_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], variables: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(this_host, "find_spec", lambda name: None)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(os, "execv", lambda program, line: sys.exit("started"))
    Path("mine.yaml").write_text(yaml.safe_dump(tiny_study()))
    with pytest.raises(SystemExit, match="started"):
        main(["run", "--study", "mine.yaml", *arguments])


def test_a_scale_that_does_not_fit_this_host_is_refused_before_snakemake_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("SLURM_JOB_ID", "SCALESTUDY_HOSTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(launches, "usable_cores", lambda: 2)
    monkeypatch.setattr(os, "execv", lambda program, line: pytest.fail("started"))
    Path("mine.yaml").write_text(yaml.safe_dump(tiny_study() | {"scales": ["1x2", "1x4"]}))
    assert main(["run", "--study", "mine.yaml"]) == 2
    message = "scales[1]: 1x4 needs 4 ranks x 1 core = 4 cores on one host; available: 2. Use a smaller scale\n"
    assert message in capsys.readouterr().err
    Path("train.py").write_text("raise SystemExit('it was tried')\n")
    assert main(["run", "--scales", "1x2", "1x4", "--batch-size", "8", "--", "train.py", "{batch_per_rank}"]) == 2
    assert message in capsys.readouterr().err
    assert not Path("train.yaml").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "--scales 4 -- train.py",
            "'--scales': 4: a scale is NODESxDEVICES, .*; write 1x4 for 4 devices of one node",
        ),
        ("--scales 1,2 -- train.py", "'--scales': 1,2: a scale is NODESxDEVICES"),
        ("--devices 4 -- train.py", "--scales: missing; .*`--devices 4` is not an option of scalestudy"),
        ("train.py --batch 4", "train.py: put -- before the command of your script"),
        ("--scales 1x2 train.py", "train.py: put -- before the command of your script"),
    ],
)
def test_a_mistake_in_the_command_of_a_script_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("raise SystemExit('it was tried')\n")
    assert main(["run", *line.split()]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_a_read_only_folder_is_refused_before_snakemake_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # root may write anywhere
    monkeypatch.setattr(os, "execv", lambda program, line: pytest.fail("started"))
    Path("mine.yaml").write_text(yaml.safe_dump(tiny_study()))
    assert main(["run", "--study", "mine.yaml"]) == 2
    assert f"{tmp_path}: this folder is read-only" in capsys.readouterr().err
