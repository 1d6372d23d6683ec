# What a run requests on this host or from a cluster; the logic is in scalestudy.chain.launches.
from functools import cache

from scalestudy.chain.config import keep_config_for_jobs
from scalestudy.chain.launches import (
    allocation_now,
    refuse_unequal_requests,
    refuse_what_does_not_fit,
    request,
)


def get_launch_priority(wildcards):
    """Return the priority that starts runs in the plan's shuffled order."""
    return len(RUNS) - PLAN.launch_order(wildcards.run)


@cache
def check_place():
    """Before the first job: refuse a scale that does not fit this host, and store the config for cluster jobs."""
    if workflow.local_exec:
        # `--resources gpu=N`, by hand or from a profile, is the number of GPUs that this host offers.
        gpus = workflow.global_resources.get("gpu")
        gpus = gpus.value if gpus else None
        or_one_message(refuse_what_does_not_fit, PLAN, cores=workflow.cores, gpus=gpus)
    else:
        asked = workflow.resource_settings.overwrite_resources
        or_one_message(refuse_unequal_requests, PLAN, ALLOCATIONS, asked)
        keep_config_for_jobs(PLAN.study, RESULTS_FOLDER)


def get_request(wildcards):
    """Return the resources that a run requests; on a cluster, those of the job that it shares with others."""
    spec = PLAN.runs[wildcards.run]
    if workflow.local_exec:
        return request(spec, gpu_type=get_gpu_type())
    allocation = allocation_now(PLAN, ALLOCATION_OF[wildcards.run], RESULTS_FOLDER)
    return request(spec, allocation, gpu_type=get_gpu_type())


def get_gpu_type():
    """Return `gpu_type` of the default resources, SLURM's name of the GPUs. Their number comes from each scale."""
    given = workflow.resource_settings.default_resources or {}
    if "gpu_type" not in given:
        return ""
    return str(getattr(given["gpu_type"], "raw", given["gpu_type"]))


def get_cores(wildcards):
    """Return the cores of one run, or of its job, on each of its hosts.

    This also checks the place: Snakemake calls it while it plans jobs, and does not know earlier where they will run.
    """
    if workflow.is_main_process and not workflow.dryrun:
        check_place()
    return get_request(wildcards)["cores"]


def requested(name):
    """Return a function that returns a resource of a run, by its name in chain/launches.py."""
    return lambda wildcards: get_request(wildcards)[name]


def get_local_devices(wildcards):
    """Return GPUs as counted by `--resources gpu=N`. A cluster gets `gres` instead; it would refuse both."""
    return get_request(wildcards)["devices"] if workflow.local_exec else 0


def get_allocation(wildcards):
    """Return the cluster job that a run shares with others; on this host every run is a separate job."""
    return None if workflow.local_exec else ALLOCATION_OF[wildcards.run].name


# Snakemake joins independent jobs only in groups whose names are listed in `group-components`. Each of our groups is
# mapped to the name `allocation`, which profiles/slurm lists, as if this were their pattern.
workflow.parent_groupids.update({allocation.name: "allocation" for allocation in ALLOCATIONS})
