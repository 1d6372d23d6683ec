"""The resources that a run requests, and the runs of a rule."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from scalestudy.analyse.study.decision_file import DecisionFile
from scalestudy.chain import launches
from scalestudy.chain.launches import (
    MEMORY_PER_RANK_MB,
    allocation_now,
    matching_runs,
    refuse_unequal_requests,
    refuse_what_does_not_fit,
    request,
    reserve_arguments,
)
from scalestudy.errors import UserError
from scalestudy.record.document import write_document
from scalestudy.study.allocations import make_allocations
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan


def plan_of(content: dict[str, Any], **changes: Any) -> Plan:
    return make_plan(parse_study(content | changes, source="x"))


@pytest.mark.parametrize(("device", "gres"), [("cpu", ""), ("auto", "gpu:4"), ("cuda", "gpu:4")])
def test_a_launch_asks_for_what_its_scale_needs(content: dict[str, Any], device: str, gres: str) -> None:
    host = {"device": device, "cores_per_rank": 3}
    plan = plan_of(content, scales=["2x4", "1x2"], host=host)
    wide = next(spec for spec in plan.runs.values() if spec.nodes == 2)
    asked = request(wide)
    assert (asked["nodes"], asked["cores"], asked["memory_mb"]) == (2, 12, 4 * MEMORY_PER_RANK_MB)
    assert (asked["gres"], asked["mpi"]) == (gres, "srun")
    single = request(next(spec for spec in plan.runs.values() if spec.strategy == "single"))
    assert (single["nodes"], single["cores"], single["mpi"]) == (1, 3, "")
    assert single["devices"] == (0 if device == "cpu" else 1)


def test_a_launch_asks_for_eight_cores_a_gpu_where_the_study_names_none(content: dict[str, Any]) -> None:
    plan = plan_of(content, scales=["1x4"], host={"device": "cuda"})
    assert {spec.world_size: request(spec)["cores"] for spec in plan.runs.values()} == {1: 8, 4: 32}
    on_cpus = plan_of(content, scales=["1x4"], host={"device": "cpu"})
    assert {spec.world_size: request(spec)["cores"] for spec in on_cpus.runs.values()} == {1: 1, 4: 4}
    refuse_what_does_not_fit(plan, cores=4, gpus=4)  # one core each is possible, and warned of


def test_gpus_of_a_type_are_asked_for_in_the_number_of_each_scale(content: dict[str, Any]) -> None:
    plan = plan_of(content, scales=["1x2", "1x4"], host={"device": "cuda"})
    asked = {spec.world_size: request(spec, gpu_type="a100")["gres"] for spec in plan.runs.values()}
    assert asked == {1: "gpu:a100:1", 2: "gpu:a100:2", 4: "gpu:a100:4"}
    on_cpus = next(iter(plan_of(content, host={"device": "cpu"}).runs.values()))
    assert request(on_cpus, gpu_type="a100")["gres"] == ""


def test_every_run_is_of_one_rule(content: dict[str, Any]) -> None:
    plan = plan_of(content, max_repeats=4)
    kinds = product((True, False), repeat=2)
    patterns = [matching_runs(plan, single=single, reserve=reserve) for single, reserve in kinds]
    for run in plan.runs:
        assert sum(bool(re.fullmatch(pattern, run)) for pattern in patterns) == 1


def test_where_there_is_no_run_nothing_matches(content: dict[str, Any]) -> None:
    pattern = matching_runs(plan_of(content), single=True, reserve=True)
    assert not any(re.fullmatch(pattern, text) for text in ("", "anything"))


def test_a_run_in_reserve_names_the_runs_that_decide(content: dict[str, Any]) -> None:
    plan = plan_of(content, max_repeats=3, report={"confidence": 0.9}, measure={"until": "precise"})
    run = next(run for run in plan.runs if plan.reserve_of(run))
    flag, level, of, *runs = reserve_arguments(plan, run)
    assert (flag, level, of) == ("--confidence", 0.9, "--reserve-of")
    assert runs == list(plan.reserve_of(run))
    assert len(runs) == 2


def test_a_run_that_is_decided_on_names_the_decision(content: dict[str, Any]) -> None:
    plan = plan_of(content, max_repeats=3)
    decided = [run for run in plan.runs if plan.is_reserve(run)]
    assert {tuple(reserve_arguments(plan, run)) for run in decided} == {("--after", 2)}


def test_what_does_not_fit_this_host_is_refused(content: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SCALESTUDY_HOSTS", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    refuse_what_does_not_fit(plan_of(content), cores=2, gpus=0)  # auto may fall back to the CPU
    with pytest.raises(UserError, match=r"scales\[0\]: 1x2 needs 2 ranks x 1 core = 2 cores .* available: 1\."):
        refuse_what_does_not_fit(plan_of(content), cores=1, gpus=None)
    monkeypatch.setattr(launches, "usable_cores", lambda: 1)
    two_each = plan_of(content, host={"cores_per_rank": 2})
    with pytest.raises(UserError, match=r"available: 1\. Use a smaller scale or lower host\.cores_per_rank$"):
        refuse_what_does_not_fit(two_each, cores=1, gpus=None)
    monkeypatch.setattr(launches, "usable_cores", lambda: 8)
    with pytest.raises(UserError, match=r"available: 1\. Use a smaller scale or raise --cores$"):
        refuse_what_does_not_fit(plan_of(content), cores=1, gpus=None)
    with pytest.raises(UserError, match=r"scales\[0\]: 1x2 needs 2 CUDA devices on one host; available: 1\."):
        refuse_what_does_not_fit(plan_of(content, host={"device": "cuda"}), cores=2, gpus=1)
    with pytest.raises(UserError, match=r"scales\[1\]: 2x2 needs 2 nodes; available here: 1\. Submit it with"):
        refuse_what_does_not_fit(plan_of(content, scales=["1x2", "2x2"]), cores=None, gpus=None)


def test_cores_of_other_hosts_are_not_known(content: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALESTUDY_HOSTS", "a,b")
    refuse_what_does_not_fit(plan_of(content, scales=["2x2"], host={"device": "cuda"}), cores=1, gpus=1)


def test_workloads_share_their_data(content: dict[str, Any]) -> None:
    data = {"type": "imdb", "path": "x"}
    model = {"type": "text-classifier", "d_model": 8, "heads": 2, "num_layers": 1}
    text = content["workloads"]["mlp"] | {"model": model, "data": data}
    plan = plan_of(content, workloads={"mlp": content["workloads"]["mlp"], "a": text, "b": text})
    ((name, entry),) = plan.study.data_in_files.items()
    assert name == plan.study.workloads["a"].data.store_name
    again = json.loads(entry.to_json())
    assert parse_study(content | {"workloads": {"a": text | {"data": again}}}, source="x")


def test_launches_of_a_job_ask_for_the_same(content: dict[str, Any]) -> None:
    """Snakemake joins no jobs that ask for different words, and of numbers it takes the largest."""
    changes = {"scales": ["1x2", "2x2"], "allocations": "blocks", "host": {"device": "cuda", "cores_per_rank": 3}}
    changes["time_limit_min"] = 10
    plan = make_plan(parse_study(content | changes, source="x"))
    (job,) = make_allocations(plan)
    asked = [request(plan.runs[run], job) for run in job.runs]
    assert {json.dumps(one) for one in asked} == {
        json.dumps(
            {
                "nodes": 2,
                "cores": 6,
                "devices": 2,
                "gres": "gpu:2",
                "memory_mb": 2 * MEMORY_PER_RANK_MB,
                "mpi": "srun",
            }
        )
    }


def test_a_job_asks_for_what_is_needed_once_that_is_decided(content: dict[str, Any], tmp_path: Path) -> None:
    """1, 2 and 4 ranks: after a decision that leaves 2 open nobody waits on the devices of 4."""
    plan = make_plan(
        parse_study(content | {"scales": ["1x2", "1x4"], "max_repeats": 3, "time_limit_min": 5}, source="x")
    )
    now, later = make_allocations(plan)
    assert [job.devices_per_node for job in (now, later)] == [4, 4]
    assert allocation_now(plan, later, tmp_path) == later
    for widest in (4, 2, 0):
        needed = [run for run, spec in plan.runs.items() if spec.repeat == 3 and spec.world_size <= widest]
        decision = DecisionFile(
            study="small",
            after_repeats=2,
            comparisons=(),
            needed=tuple(needed),
            budget_device_hours=None,
            budget_ends_after=None,
        )
        write_document(tmp_path / "decisions/after_2.json", decision)
        assert allocation_now(plan, later, tmp_path).devices_per_node == max(widest, 1)
        assert allocation_now(plan, now, tmp_path) == now
    (tmp_path / "decisions/after_2.json").write_text("{}")
    assert allocation_now(plan, later, tmp_path) == later


def test_rules_whose_launches_share_a_job_are_given_the_same_words(content: dict[str, Any]) -> None:
    blocks, scales = (
        make_plan(parse_study(content | {"allocations": kind, "max_repeats": 5}, source="x"))
        for kind in ("blocks", "scales")
    )
    typed = {"gres": "gpu:a100:2", "mem_mb": 9000}
    rules = ("train_baseline", "train_distributed", "train_baseline_reserve", "train_distributed_reserve")
    refuse_unequal_requests(blocks, make_allocations(blocks), dict.fromkeys(rules, typed))
    refuse_unequal_requests(scales, make_allocations(scales), {"train_distributed": typed})
    refuse_unequal_requests(blocks, make_allocations(blocks), {"train_distributed": {"mem_mb": 9000}})
    for rule in rules:
        with pytest.raises(
            UserError, match=f"gres of {rule} is 'gpu:a100:2', but of train_.* it is not set; .*scales"
        ):
            refuse_unequal_requests(blocks, make_allocations(blocks), {rule: typed})
