# Helpers only. The plan is made here, in memory, from the config: rules look runs up in it.
import json
import os
import sys
from math import ceil
from pathlib import Path

from snakemake.exceptions import WorkflowError

from scalestudy.errors import UserError
from scalestudy.publish.templates import template_digest
from scalestudy.record.fingerprint import MEASURING, fingerprint
from scalestudy.study.capacity import check_capacity
from scalestudy.study.load import parse_study
from scalestudy.study.plan import make_plan

# `scalestudy` must be the one of the Python that runs this workflow, also where its environment is not activated.
os.environ.update(PATH=os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()]))


def make_checked_plan():
    """The plan of the config, or one clear message where the config does not allow it."""
    # A workflow that imports this one may keep Snakemake's path variables in the same mapping.
    study = {key: value for key, value in config.items() if key != "pathvars"}
    try:
        return make_plan(parse_study(study, source="config"))
    except UserError as error:
        raise WorkflowError(str(error)) from None


PLAN = make_checked_plan()
RUNS = list(PLAN.runs)
WORKLOADS = list(PLAN.study.workloads)
CONFIG_JSON = json.dumps(PLAN.study.model_dump(mode="json"))
TIME_LIMIT_MIN = PLAN.study.time_limit_min
FIGURES = ["epoch_time_detailed", "speedup_efficiency", "throughput", "accuracy"]
FIGURE_FORMATS = ["pdf", "svg", "png"]


wildcard_constraints:
    run="|".join(RUNS),
    workload="|".join(WORKLOADS),


def get_spec(wildcards):
    """The run's spec as one line of JSON: a job carries it, so that a config edited later does not change it."""
    return PLAN.runs[wildcards.run].to_json()


def get_launch_priority(wildcards):
    """Launches start in the plan's shuffled order."""
    return len(RUNS) - PLAN.launch_order(wildcards.run)


def get_cores(wildcards):
    """Cores of one launch on its host; refused while jobs are planned where this host is to run it and has fewer."""
    if workflow.is_main_process and workflow.local_exec and not workflow.dryrun:
        # `--resources gpu=N`, by hand or from a profile, says how many GPUs this host offers.
        gpus = workflow.global_resources.get("gpu")
        try:
            check_capacity(PLAN, cores=workflow.cores, gpus=gpus.value if gpus else None)
        except UserError as error:
            raise WorkflowError(str(error)) from None
    spec = PLAN.runs[wildcards.run]
    return spec.devices_per_node * spec.host.cores_per_rank


def get_devices(wildcards):
    """GPUs of one launch on its host; none where the study runs on CPUs."""
    spec = PLAN.runs[wildcards.run]
    return 0 if spec.host.device == "cpu" else spec.devices_per_node


def matching_runs(single, reserve=False):
    """Pattern of the single-process, or the distributed, launches; those that are made anyhow, or the reserve."""
    found = [
        run
        for run, spec in PLAN.runs.items()
        if (spec.strategy == "single") == single and bool(PLAN.reserve_of(run)) == reserve
    ]
    return "|".join(found) or "(?!)"  # an empty pattern would match all runs, this one matches none


def get_deciding_runs(wildcards):
    """Records of the launches whose spread decides whether one in reserve is made."""
    return collect("<results>/runs/{run}/run.json", run=PLAN.reserve_of(wildcards.run))


def get_reserve_arguments(wildcards):
    """What tells `scalestudy train` that it has to decide first."""
    return [
        "--confidence",
        PLAN.study.report.confidence,
        "--reserve-of",
        *PLAN.reserve_of(wildcards.run),
    ]


# Data that come in files, by the name of the directory they are prepared in; workloads may share them.
DATASETS = {
    workload.data.store_name: workload.data
    for workload in PLAN.study.workloads.values()
    if workload.data.prepared
}


def get_data(wildcards):
    """The data's entry of the config as one line of JSON, as a job carries it."""
    return json.dumps(DATASETS[wildcards.data].model_dump(mode="json"), sort_keys=True)


def get_prepared_data(wildcards):
    """The manifest of the data of a run; nothing where they do not come in files."""
    data = PLAN.runs[wildcards.run].data
    return ancient(f"<resources>/data/{data.store_name}/manifest.json") if data.prepared else []


def get_data_arguments(wildcards, input):
    """What tells `scalestudy train` where prepared data stand."""
    return ["--data", str(Path(input.data).parents[1])] if input.data else []
