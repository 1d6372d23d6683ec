"""What machines and ranks do to a run: each ends in its named outcome, and nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import signal

import pytest
from scalestudy.record.tables import read_observation
from slurm_studies import ENDLESS, Launch, Submitting

COME_UP_S = 15
"""Limit of a run in which some do not come: long enough for the others, also on a host with other work."""


@pytest.mark.slow
@pytest.mark.fault(
    fault="one of two nodes fails",
    moment="training",
    outcome="failed; the reason names the job whose node failed",
    kept="the measurements so far",
    next_call="the record is kept; `scalestudy retry` sets it aside",
)
def test_a_node_that_fails_is_named_as_the_cause(submitting: Submitting, both_nodes: None) -> None:
    launch = Launch(submitting, sbatch="--nodes=2 --ntasks=2 --no-requeue", epochs=ENDLESS, scales=["2x1"])
    launch.wait_until_it_trains()
    submitting.cluster.run("scontrol", "update", "nodename=node2", "state=down", "reason=test")
    launch.end()
    record = launch.record()
    # On a busy host the record may be due before SLURM reports why it ended the job. The run is then repeated.
    said = {"failed": "a node of SLURM job", "preempted": "received SIGTERM"}
    assert said[record.outcome] in record.reason


@pytest.mark.slow
@pytest.mark.fault(
    fault="SIGKILL of all processes of the job, and its node down",
    moment="training",
    outcome="failed; Snakemake queries SLURM when it ends, and records the reason",
    kept="the data that had been written",
    next_call="the record is kept; `scalestudy retry` sets it aside",
)
def test_a_launch_that_dies_without_a_word_is_recorded_by_those_left_behind(
    submitting: Submitting, both_nodes: None
) -> None:
    launch = Launch(submitting, "--slurm-no-requeue", epochs=ENDLESS)
    launch.wait_until_it_trains()
    job = launch.job
    node = submitting.cluster.run("squeue", "--noheader", "--format=%N").strip()
    for pid in submitting.cluster.processes_of(job):
        with contextlib.suppress(ProcessLookupError):  # some of them end when others do
            os.kill(pid, signal.SIGKILL)
    submitting.cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    assert launch.end() != 0
    record = launch.record()
    assert record.outcome == "failed"
    assert f"SLURM job {job}" in record.reason


@pytest.mark.fault(
    fault="the job has too little memory",
    moment="ranks start",
    outcome="oom; the reason quotes SLURM",
    kept="the data that had been written",
    next_call="the record is kept; `scalestudy retry` sets it aside",
)
def test_more_memory_than_was_asked_for_is_oom(submitting: Submitting) -> None:
    launch = Launch(submitting, sbatch="--nodes=1 --mem=400", epochs=ENDLESS)
    launch.end()
    record = launch.record()
    assert record.outcome == "oom"
    assert "the job used more memory than it was allocated" in record.reason


@pytest.mark.slow
@pytest.mark.fault(
    fault="SIGKILL of a rank on the second node",
    moment="training",
    outcome="failed; the reason names the rank and its node",
    kept="the measurements so far",
    next_call="the record is kept; `scalestudy retry` sets it aside",
)
def test_a_rank_that_is_killed_is_named(submitting: Submitting) -> None:
    launch = Launch(submitting, sbatch="--nodes=2 --ntasks=2", epochs=ENDLESS, scales=["2x1"])
    launch.wait_until_it_trains()
    os.kill(launch.ranks()[1], signal.SIGKILL)
    launch.end()
    record = launch.record()
    assert record.outcome == "failed"
    assert record.reason.startswith("rank 1 on node")
    assert "ended by SIGKILL" in record.reason


@pytest.mark.slow
@pytest.mark.fault(
    fault="SIGSTOP of a rank on the second node",
    moment="training",
    outcome="failed after stall_limit_s; the reason names the rank and its node",
    kept="the measurements so far",
    next_call="the record is kept; `scalestudy retry` sets it aside",
)
def test_a_rank_that_hangs_is_named_and_the_others_do_not_wait_for_ever(submitting: Submitting) -> None:
    launch = Launch(
        submitting, sbatch="--nodes=2 --ntasks=2", epochs=ENDLESS, scales=["2x1"], stall_limit_s=COME_UP_S
    )
    launch.wait_until_it_trains()
    stopped = launch.ranks()[1]
    os.kill(stopped, signal.SIGSTOP)
    launch.end()
    record = launch.record()
    assert record.outcome == "failed"
    assert record.reason.startswith("rank 1 on node")
    assert "the others waited" in record.reason


@pytest.mark.slow
@pytest.mark.fault(
    fault="a node never starts its ranks",
    moment="rendezvous",
    outcome="failed after start_limit_s; the reason lists the node that came up",
    kept="the log",
    next_call="the record is kept; `scalestudy retry` sets it aside",
)
def test_a_node_that_never_comes_up_is_not_waited_for_for_ever(submitting: Submitting) -> None:
    (submitting.root / "profiles/site.sh").write_text('[ "$SLURM_NODEID" = 1 ] && sleep 1000\n')
    launch = Launch(submitting, sbatch="--nodes=2 --ntasks=2", scales=["2x1"], start_limit_s=COME_UP_S)
    launch.end()
    record = launch.record()
    assert (record.outcome, record.reason) == ("failed", f"only 1 of 2 nodes came up within {COME_UP_S} s: node1")


@pytest.mark.slow
@pytest.mark.fault(
    fault="the ranks of a node never reach the rendezvous",
    moment="rendezvous",
    outcome="failed; the reason is that the nodes did not complete their rendezvous",
    kept="the log",
    next_call="the record is kept; `scalestudy retry` sets it aside",
)
def test_nodes_that_come_up_and_never_meet_end_the_launch(submitting: Submitting) -> None:
    """The second node is inspected, and then its torchrun sleeps."""
    (submitting.root / "profiles/site.sh").write_text(
        '[ "$SLURM_NODEID" = 1 ] && export PYTHONPATH="$PWD/absent-minded"\n'
    )
    absent_minded = submitting.root / "absent-minded"
    absent_minded.mkdir()
    (absent_minded / "sitecustomize.py").write_text(
        "import sys, time\nif 'torch.distributed.run' in sys.orig_argv: time.sleep(1000)\n"
    )
    launch = Launch(submitting, sbatch="--nodes=2 --ntasks=2", scales=["2x1"], start_limit_s=COME_UP_S)
    launch.end()
    record = launch.record()
    assert record.outcome == "failed"
    assert "did not complete their rendezvous" in record.reason


@pytest.mark.fault(
    fault="the job has fewer nodes than the scale",
    moment="a run starts",
    outcome="failed; the reason shows both numbers",
    kept="the log",
    next_call="the record is kept; `scalestudy retry` sets it aside",
)
def test_one_node_where_two_were_planned_is_no_number_in_a_table(submitting: Submitting) -> None:
    launch = Launch(submitting, sbatch="--nodes=1", scales=["2x1"])
    launch.end()
    record = launch.record()
    assert record.outcome == "failed"
    assert record.reason.startswith("2 nodes are planned, but SLURM job ")
    assert not len(read_observation(submitting.results / "runs" / record.run_id).steps)


@pytest.mark.slow
@pytest.mark.fault(
    fault="the job has GPUs that torch does not see",
    moment="ranks start",
    outcome="failed; the reason shows CUDA_VISIBLE_DEVICES",
    kept="the log",
    next_call="the record is kept; `scalestudy retry` sets it aside",
)
def test_gpus_that_torch_does_not_see_are_not_replaced_by_the_processor(submitting: Submitting) -> None:
    launch = Launch(submitting, sbatch="--nodes=1 --gres=gpu:2", host={"device": "auto"}, scales=["1x2"])
    launch.end()
    record = launch.record()
    assert record.outcome == "failed"
    assert record.reason.startswith("this job has GPUs (CUDA_VISIBLE_DEVICES=0,1), but torch sees none")
