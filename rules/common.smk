# Input functions and names that rules share; what decides something is in scalestudy.chain. The plan is made here, in
# memory, from the config: rules look runs up in it.
import hashlib
import os
import sys
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from scalestudy.chain.temporary import mark_temporary, remove_dead_temporary

# Before what takes longer to import: whenever this process is killed, its folder is known.
mark_temporary(workflow)

from scalestudy.chain.config import (
    command_line,
    config_json,
    keep_config_for_jobs,
    profile_arguments,
    read_config,
)
from scalestudy.chain.launches import (
    allocation_now,
    allowing,
    matching_runs,
    refuse_unequal_requests,
    refuse_what_does_not_fit,
    request,
    reserve_arguments,
)
from scalestudy.chain.locks import live_calls, note_locks, release_dead_locks
from scalestudy.chain.slurm.patience import be_patient
from scalestudy.errors import UserError
from scalestudy.launch.foreign.shared import ALLOWED
from scalestudy.project import root
from scalestudy.publish.figures import figures_of, file_of
from scalestudy.publish.templates import template_digest
from scalestudy.publish.typeset import missing_tex
from scalestudy.record.finished import code_of_0_1
from scalestudy.record.fingerprint import fingerprint
from scalestudy.registry.results import DECISIONS, DOCUMENTED, RESULTS
from scalestudy.registry.tables import NAMES as TABLE_NAMES
from scalestudy.registry.tables import VERIFICATION as VERIFICATION_TABLE
from scalestudy.study.allocations import launch_min, make_allocations
from scalestudy.study.config.load import parse_study, parse_written
from scalestudy.study.config.origin import with_planned_defaults
from scalestudy.study.config.yaml_file import read_yaml
from scalestudy.study.plan import make_plan

# `scalestudy` must be the one of the Python that runs this workflow, also where its environment is not activated.
os.environ.update(PATH=os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()]))


def or_one_message(function, *arguments, **options):
    """What a function returns, or one clear message where the user has to put something right."""
    try:
        return function(*arguments, **options)
    except UserError as error:
        raise WorkflowError(str(error)) from None


def make_checked_plan():
    """The plan of the config, whose files are read as strictly as by `scalestudy plan`."""
    job = not workflow.is_main_process
    # A workflow that imports this one has files that say other things too; those of a job may have been edited since.
    own = Path(workflow.main_snakefile).resolve().is_relative_to(root())
    for path in workflow.configfiles if own and not job else []:
        read_yaml(Path(path))
    content = read_config(config, job=job)
    content = with_planned_defaults(content)
    if job:
        return make_plan(parse_study(content, source="config"))
    return make_plan(parse_written(content, source="config", files=workflow.configfiles))


PLAN = or_one_message(make_checked_plan)
if workflow.is_main_process:
    be_patient()  # here, since every way to start a study comes by
if workflow.is_main_process and not workflow.dryrun:
    for said in [*release_dead_locks(), *live_calls()]:
        logger.warning(said)
    remove_dead_temporary()
RUNS = list(PLAN.runs)
WORKLOADS = list(PLAN.study.workloads)
CONFIG_JSON = config_json(PLAN.study)
# Not a parameter of launches, since it is no reason to measure again; launches read it when they start.
os.environ[ALLOWED] = allowing(PLAN.study)
LIMITS = PLAN.study.limits
ALLOCATIONS = make_allocations(PLAN)
ALLOCATION_OF = {run: allocation for allocation in ALLOCATIONS for run in allocation.runs}
DATASETS = PLAN.study.data_in_files
# Documents tell what came of advice where it is tried as a part of the study, or was tried by hand. By hand no rule
# makes the file again: that a document is older than it is seen by a parameter.
VERIFICATION = Path("results") / PLAN.study.name / RESULTS["verification"]
AUTO_VERIFIED = PLAN.study.verify.automatic
VERIFIED = AUTO_VERIFIED or VERIFICATION.exists()
FIGURES = list(figures_of(PLAN, verified=VERIFIED))
DRAWN = [file_of(*figure) for figure in FIGURES]
TABLES = [*TABLE_NAMES, *([VERIFICATION_TABLE] if VERIFIED else [])]
TABLE_TEMPLATES = ["table.tex", "environment_table.tex", "provenance.tex", "verification_table.tex"]
DOCUMENTS = ["report", "proposal"]
DOCUMENT_TEMPLATES = [
    "document_preamble.tex",
    "number_columns.tex",
    "report.tex",
    "proposal.tex",
    "artifact_description.tex",
]
FIGURE_FORMATS = ["pdf", "svg", "png", "csv", "txt"]


wildcard_constraints:
    run="|".join(RUNS),


@cache
def get_typeset():
    """Documents to make a PDF of: none where LaTeX is not there, which is said once."""
    missing = missing_tex() if workflow.is_main_process else ""
    if missing:
        logger.warning(f"PDF documents are not made, their .tex files are: {missing}")
    return [] if missing else DOCUMENTS


def results(*names):
    """Files of the study's results folder, by what they hold: named inputs or outputs of a rule."""
    return {name: f"<results>/{RESULTS[name]}" for name in names}


def verified_advice():
    """Inputs of what tells of advice that was tried, where that is a part of the study."""
    return results("verification", "verified") if AUTO_VERIFIED else {}


@cache
def get_tried_by_hand(wildcards):
    """The checksum of what came of advice that was tried by hand; '' where none was."""
    by_hand = VERIFIED and not AUTO_VERIFIED
    return hashlib.sha256(VERIFICATION.read_bytes()).hexdigest() if by_hand else ""


def get_reported_figures():
    """The SVG of every figure, as Snakemake's report shows it."""
    return [get_reported(*figure) for figure in FIGURES]


def get_reported(figure, workload):
    return report(
        f"<results>/figures/{file_of(figure, workload)}.svg",
        caption=f"../report/captions/{figure.name}.rst",
        category="Figures",
        subcategory=workload or None,
        labels={"figure": figure.title},
    )


def get_spec(wildcards):
    """The run's spec as one line of JSON: a job carries it, so that a config edited later does not change it."""
    return PLAN.runs[wildcards.run].to_json()


def get_config_json(wildcards):
    """The study on one line; from a function, since the braces of a command are no wildcards."""
    return CONFIG_JSON


def get_command(wildcards):
    """The command that this study is run with; from a function, since braces in it are no wildcards."""
    return command_line(workflow.config_settings.configfiles, workflow.config_settings.config)


def get_code_of_0_1(wildcards):
    """What Snakemake remembers of a run that release 0.1 measured."""
    return code_of_0_1(Path("results") / PLAN.study.name / "runs" / wildcards.run)


def get_launch_priority(wildcards):
    """Launches start in the plan's shuffled order."""
    return len(RUNS) - PLAN.launch_order(wildcards.run)


@cache
def check_place():
    """Before the first job: refuse a scale that does not fit this host; keep the config for jobs of a cluster."""
    if workflow.local_exec:
        # `--resources gpu=N`, by hand or from a profile, says how many GPUs this host offers.
        gpus = workflow.global_resources.get("gpu")
        gpus = gpus.value if gpus else None
        or_one_message(refuse_what_does_not_fit, PLAN, cores=workflow.cores, gpus=gpus)
    else:
        asked = workflow.resource_settings.overwrite_resources
        or_one_message(refuse_unequal_requests, PLAN, ALLOCATIONS, asked)
        keep_config_for_jobs(PLAN.study, Path("results") / PLAN.study.name)


def get_request(wildcards):
    """What a launch asks for: on a cluster what its job does, which others share."""
    spec = PLAN.runs[wildcards.run]
    if workflow.local_exec:
        return request(spec, gpu_type=get_gpu_type())
    results = Path("results") / PLAN.study.name
    allocation = allocation_now(PLAN, ALLOCATION_OF[wildcards.run], results)
    return request(spec, allocation, gpu_type=get_gpu_type())


def get_gpu_type():
    """`gpu_type` of the default resources: what SLURM calls the GPUs; its number is that of each scale."""
    given = workflow.resource_settings.default_resources or {}
    if "gpu_type" not in given:
        return ""
    return str(getattr(given["gpu_type"], "raw", given["gpu_type"]))


def get_cores(wildcards):
    """Cores of one launch, or of its job, on each of its hosts; asked while jobs are planned, which is when to refuse them.

    Snakemake does not know where jobs will run before it plans them, nor asks for anything else as early.
    """
    if workflow.is_main_process and not workflow.dryrun:
        check_place()
    return get_request(wildcards)["cores"]


def requested(name):
    """A resource of a launch, by its name in chain/launches.py."""
    return lambda wildcards: get_request(wildcards)[name]


def get_local_devices(wildcards):
    """GPUs as `--resources gpu=N` counts them; a cluster is asked for them by `gres`, and for both it would refuse."""
    return get_request(wildcards)["devices"] if workflow.local_exec else 0


def get_allocation(wildcards):
    """The job of a cluster that a launch shares with others; on this host every launch is one of its own."""
    return None if workflow.local_exec else ALLOCATION_OF[wildcards.run].name


def get_runs_before_decision(wildcards):
    """Records of the launches that a decision is made on."""
    repeats = int(wildcards.repeats)
    return collect(
        "<results>/runs/{run}/run.sha256",
        run=[run for run, spec in PLAN.runs.items() if spec.repeat <= repeats],
    )


def get_deciding_runs(wildcards):
    """What decides whether a launch in reserve is made: a decision, or records of the launches whose spread does."""
    if repeats := PLAN.decided_after(wildcards.run):
        return f"<results>/{DECISIONS}".format(repeats=repeats)
    return collect("<results>/runs/{run}/run.sha256", run=PLAN.reserve_of(wildcards.run))


def get_reserve_arguments(wildcards):
    """What tells `scalestudy stage train` that it has to decide first."""
    return reserve_arguments(PLAN, wildcards.run)


def get_profile_arguments(wildcards):
    """The profile of this workflow, for those that it starts."""
    return profile_arguments()


def get_verify_budget(wildcards):
    """The device-hours that trials may take, as an option."""
    hours = PLAN.study.verify.budget_device_hours
    return [] if hours is None else ["--budget", str(hours)]


def get_data(wildcards):
    """The data's entry of the config."""
    return DATASETS[wildcards.data].to_json()


def get_prepared_data(wildcards):
    """The manifest of the data of a run; nothing where they do not come in files."""
    data = PLAN.runs[wildcards.run].prepared_data
    return ancient(f"<resources>/data/{data.store_name}/manifest.json") if data else []


def get_data_arguments(wildcards, input):
    """What tells `scalestudy stage train` where prepared data are."""
    return ["--data", str(Path(input.data).parents[1])] if input.data else []


# Snakemake joins jobs that do not depend on each other only in groups that it is told to join, by name. Each of ours goes
# by the name that profiles/slurm says it of, as if `allocation` were their pattern.
workflow.parent_groupids.update({allocation.name: "allocation" for allocation in ALLOCATIONS})
