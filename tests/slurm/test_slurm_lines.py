"""The exact lines that SLURM is given for 1 GPU, 4 on one node, 16 on four; docs/cluster.md shows them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from conftest import ROOT, wait_for
from scalestudy.launch.slurm.job import Job, parse_job, step_command
from slurm_studies import Submitting, small_study

# By scale: what sbatch is told of the allocation, and srun of the step inside it.
SBATCH = {
    "1x1": "-t 5 --mem 8000 --nodes=1 --cpus-per-task=8 --gres=gpu:1",
    "1x4": "-t 5 --mem 32000 --nodes=1 --cpus-per-task=32 --gres=gpu:4",
    "4x4": "-t 5 --mem 32000 --nodes=4 --ntasks=4 --cpus-per-task=32 --gres=gpu:4",
}
BLOCK = "-t 15 --mem 32000 --nodes=1 --cpus-per-task=32 --gres=gpu:4"
"""A repeat of 1x1, 1x2 and 1x4."""
SRUN = {
    "1x1": "srun --jobid=7 --job-name=RUN --nodes=1 --nodelist=a --ntasks=1 --ntasks-per-node=1 --cpus-per-task=8"
    " --gpus-per-node=1 --kill-on-bad-exit=1 --export=ALL --input=none",
    "1x4": "srun --jobid=7 --job-name=RUN --nodes=1 --nodelist=a --ntasks=1 --ntasks-per-node=1 --cpus-per-task=32"
    " --gpus-per-node=4 --kill-on-bad-exit=1 --export=ALL --input=none",
    "4x4": "srun --jobid=7 --job-name=RUN --nodes=4 --nodelist=a,b,c,d --ntasks=4 --ntasks-per-node=1"
    " --cpus-per-task=32 --gpus-per-node=4 --kill-on-bad-exit=1 --export=ALL --input=none",
}


@pytest.fixture
def gpus(submitting: Submitting) -> Submitting:
    """A study on GPUs that names no cores, whose batch divides among sixteen ranks."""
    host = {"device": "cuda"}
    study = small_study(scales=["1x4", "4x4"], host=host, allocations="scales")
    submitting.configure(study)
    return submitting


def test_what_sbatch_is_told_by_scale(gpus: Submitting, tmp_path: Path) -> None:
    assert told(gpus, tmp_path) == SBATCH


@pytest.mark.slow  # test_slurm_study.py submits a repeat
def test_what_sbatch_is_told_of_a_repeat(gpus: Submitting, tmp_path: Path) -> None:
    """Three runs of five minutes each, on the devices of the largest."""
    host = {"device": "cuda"}
    gpus.configure(small_study(scales=["1x2", "1x4"], host=host))
    assert told(gpus, tmp_path) == {"1x4": BLOCK}


@pytest.mark.slow  # tests/workflow/test_dry_runs.py asks for them by type too
def test_gpus_are_asked_for_by_type_in_the_number_of_each_scale(gpus: Submitting, tmp_path: Path) -> None:
    typed = {scale: line.replace("gpu:", "gpu:a100:") for scale, line in SBATCH.items()}
    assert told(gpus, tmp_path, "--default-resources", "gpu_type=a100") == typed


def told(gpus: Submitting, tmp_path: Path, *arguments: str) -> dict[str, str]:
    """Arguments of sbatch for each job, by its nodes and devices. arguments: of snakemake."""
    said = tmp_path / "said"
    recorder = tmp_path / "bin/sbatch"
    recorder.parent.mkdir()
    recorder.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {said}\nexit 1\n')
    recorder.chmod(0o755)
    # Nodes that have what is requested: those of the test cluster are smaller, and such a job is not submitted.
    large = recorder.with_name("sinfo")
    nodes = "main*|4|64|500000|gpu:a100:8|infinite|1-infinite"
    large.write_text(f"#!/bin/sh\ncase \"$*\" in *%D*) echo '{nodes}';; *) echo 'main*';; esac\n")
    large.chmod(0o755)

    class Recording(Submitting):
        @property
        def environment(self) -> dict[str, str]:
            before = super().environment
            # behind `python`'s own folder, before SLURM's
            return before | {"PATH": f"{recorder.parent}:{before['PATH']}"}

    Recording(gpus.root, gpus.cluster).submit(*arguments, check=False)
    lines = [line.split(" --wrap=")[0] for line in said.read_text().splitlines() if line.startswith("--parsable")]
    found = {}
    for line in lines:
        scale = re.search(r"group_n(\d+)g(\d+)-(?:blocks-)?1", line)
        found[f"{scale[1]}x{scale[2]}"] = re.search(r"-t .*?(?= -D )", line)[0]
        gres = re.search(r"--gres=\S+", line)
        found[f"{scale[1]}x{scale[2]}"] += f" {gres[0]}"
    return found


@pytest.mark.parametrize("scale", SRUN)
def test_what_srun_is_told(gpus: Submitting, scale: str) -> None:
    nodes, devices = map(int, scale.split("x"))
    specs = gpus.plan().runs.values()
    spec = next(s for s in specs if (s.nodes, s.devices_per_node) == (nodes, devices))
    job = Job("7", "RUNNING", tuple("abcd"), has_gpus=True)
    line = step_command(spec, job, job.nodes[:nodes])
    assert shlex.join(line).replace(spec.run_id, "RUN") == SRUN[scale]


def test_a_smaller_launch_sees_its_own_devices_on_the_first_nodes_of_a_job(gpus: Submitting) -> None:
    """One run after another in a job of two nodes with four GPUs each: where it runs, and its devices."""
    gpus.configure(small_study(scales=["1x2", "2x1", "2x4"], host={"device": "cuda"}, allocations="blocks"))
    cluster = gpus.cluster
    asked = ["--nodes=2", "--ntasks=2", "--cpus-per-task=4", "--gres=gpu:4", "--mem=32000", "--output=/dev/null"]
    number = cluster.run("sbatch", "--parsable", *asked, "--wrap=sleep 300").strip()
    try:
        wait_for(lambda: f"{number} RUNNING" in cluster.jobs(), seconds=60)
        said = cluster.run("scontrol", "--details", "--oneliner", "show", "job", number)
        job = parse_job(number, said, hosts=lambda _: ("node1", "node2"))
        seen = {}
        for spec in gpus.plan().runs.values():
            line = step_command(spec, job, job.nodes[: spec.nodes])
            told = cluster.run(*line, "sh", "-c", "echo $SLURMD_NODENAME:$CUDA_VISIBLE_DEVICES")
            seen[spec.nodes, spec.devices_per_node] = sorted(told.split())
            # srun may end before the controller has its devices back.
            wait_for(lambda: cluster.run("squeue", "--steps", "--noheader").count(f"{number}.") <= 1, seconds=60)
            assert (job.gpus, job.held_devices(spec)) == (8, 8)
    finally:
        cluster.run("scancel", number)
    assert seen == {
        (1, 1): ["node1:0"],
        (1, 2): ["node1:0,1"],
        (2, 1): ["node1:0", "node2:0"],
        (2, 4): ["node1:0,1,2,3", "node2:0,1,2,3"],
    }


def test_the_guide_shows_these_lines() -> None:
    guide = " ".join((ROOT / "docs/cluster.md").read_text().split())
    for line in [*SBATCH.values(), BLOCK, *SRUN.values()]:
        assert line in guide
