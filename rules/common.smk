# Input functions and names that rules share; their logic is in scalestudy.chain. The plan is created here, in
# memory, from the config: rules look up runs in it.
import hashlib
import os
import signal
import sys
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

try:
    from scalestudy.__main__ import requirement
except ModuleNotFoundError:  # snakedeploy deploys rules, and installs no package
    raise WorkflowError(
        f"The package scalestudy is missing. Install it with torch: {sys.executable} -m pip"
        " install torch 'scalestudy[study]'"
    ) from None
if requirement():
    raise WorkflowError(requirement())

from scalestudy.chain.temporary import mark_temporary, remove_dead_temporary

# Before the slower imports, so that the folder is marked whenever this process is killed.
mark_temporary(workflow)

from scalestudy.chain.callers import add_caller, end_with_callers
from scalestudy.chain.config import (
    OWN_RULES,
    command_line,
    config_json,
    profile_arguments,
    read_config,
)
from scalestudy.chain.launches import (
    allowing,
    matching_runs,
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

# Jobs end with this call, and it ends with `scalestudy verify`. On SIGINT Snakemake cancels its jobs; on SIGTERM it would
# wait for them. A job of a cluster outlives the call that submitted it.
add_caller(only=workflow.remote_exec)
end_with_callers(signal.SIGINT)


def or_one_message(function, *arguments, **options):
    """Return the function's result, or raise one clear message if the user must fix something."""
    try:
        return function(*arguments, **options)
    except UserError as error:
        raise WorkflowError(str(error)) from None


# Whether another workflow uses these rules as a module.
IMPORTED = not Path(workflow.main_snakefile).resolve().is_relative_to(root())
if IMPORTED:
    os.environ[OWN_RULES] = "1"


def read_checked_config():
    """Return the config, whose files are read as strictly as by `scalestudy plan`."""
    # The files of a workflow that imports this one have other keys too; a job's files may have been edited since.
    for path in workflow.configfiles if workflow.is_main_process and not IMPORTED else []:
        read_yaml(Path(path))
    return read_config(config, job=not workflow.is_main_process)


def placed(path):
    """Return the value of a path variable, in the place that `replace_prefix` of an importing workflow gives it.

    Snakemake compares the prefixes with the paths of rules, which begin with the variable. It applies `prefix` to the
    whole paths.
    """
    modifier = workflow.modifier.path_modifier
    whole = modifier.replace_prefix("<results>") != "<results>"
    return path if whole else modifier.replace_prefix(path)


CONTENT = or_one_message(read_checked_config)


pathvars:
    results=placed(f"results/{CONTENT.get('study')}"),
    logs="<results>/logs",
    resources=placed("resources"),


# Folders on disk, with the path variables and prefixes of a workflow that imports this one.
RESULTS_FOLDER, RESOURCES_FOLDER = (
    Path(workflow.pathvars.apply(workflow.modifier.path_modifier.replace_prefix(name)))
    for name in ("<results>", "<resources>")
)


def make_checked_plan():
    """Return the plan of the config, with the defaults of an earlier plan in the same results folder."""
    content = with_planned_defaults(CONTENT, RESULTS_FOLDER)
    if not workflow.is_main_process:
        return make_plan(parse_study(content, source="config"))
    return make_plan(
        parse_written(content, source="config", files=workflow.configfiles, results=RESULTS_FOLDER)
    )


PLAN = or_one_message(make_checked_plan)
if workflow.is_main_process:
    be_patient()  # here, since every way to start a study runs this line
if workflow.is_main_process and not workflow.dryrun:
    for said in [*release_dead_locks(), *live_calls()]:
        logger.warning(said)
    remove_dead_temporary()
RUNS = list(PLAN.runs)
WORKLOADS = list(PLAN.study.workloads)
CONFIG_JSON = config_json(PLAN.study)
# Not a parameter of runs, since a change does not require a new measurement; runs read it when they start.
os.environ[ALLOWED] = allowing(PLAN.study)
LIMITS = PLAN.study.limits
ALLOCATIONS = make_allocations(PLAN)
ALLOCATION_OF = {run: allocation for allocation in ALLOCATIONS for run in allocation.runs}
DATASETS = PLAN.study.data_in_files
# Documents show the result of advice that is tried as part of the study, or was tried by hand. No rule writes the file
# again if it was tried by hand: a parameter detects that a document is older than the file.
VERIFICATION = RESULTS_FOLDER / RESULTS["verification"]
AUTO_VERIFIED = PLAN.study.verify.automatic
VERIFIED = AUTO_VERIFIED or VERIFICATION.exists()
FIGURES = list(figures_of(PLAN, verified=VERIFIED))
DRAWN = [file_of(*figure) for figure in FIGURES]
TABLES = [*TABLE_NAMES, *([VERIFICATION_TABLE] if VERIFIED else [])]
TABLE_TEMPLATES = [
    "table.tex",
    "environment_table.tex",
    "links.tex",
    "provenance.tex",
    "verification_table.tex",
]
DOCUMENTS = ["report", "proposal"]
DOCUMENT_TEMPLATES = [
    "document_preamble.tex",
    "number_columns.tex",
    "report.tex",
    "proposal.tex",
    "artifact_description.tex",
    "links.tex",
]
FIGURE_FORMATS = ["pdf", "svg", "png", "csv", "txt"]


wildcard_constraints:
    run="|".join(RUNS),


@cache
def get_typeset():
    """Return the documents that get a PDF. Without LaTeX there are none, and one warning is printed."""
    missing = missing_tex() if workflow.is_main_process else ""
    if missing:
        logger.warning(f"PDF documents are not made, only their .tex files: {missing}")
    return [] if missing else DOCUMENTS


def results(*names):
    """Return files of the study's results folder by their names: named inputs or outputs of a rule."""
    return {name: f"<results>/{RESULTS[name]}" for name in names}


def verified_advice():
    """Return the files with the result of tried advice, as inputs, if trying it is part of the study."""
    return results("verification", "verified") if AUTO_VERIFIED else {}


@cache
def get_tried_by_hand(wildcards):
    """Return the checksum of the result of advice that was tried by hand; '' if none was."""
    by_hand = VERIFIED and not AUTO_VERIFIED
    return hashlib.sha256(VERIFICATION.read_bytes()).hexdigest() if by_hand else ""


def get_reported_figures():
    """Return the SVG of every figure for Snakemake's report."""
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
    """Return the run's spec as one line of JSON. It is part of the job, so later edits of the config do not change it."""
    return PLAN.runs[wildcards.run].to_json()


def get_config_json(wildcards):
    """Return the study on one line. It is a function because braces in a command are not wildcards."""
    return CONFIG_JSON


def get_command(wildcards):
    """Return the command that runs this study. It is a function because braces in it are not wildcards."""
    settings = workflow.config_settings
    return command_line(settings.configfiles, settings.config, imported=IMPORTED)


def get_code_of_0_1(wildcards):
    """Return the fingerprint that Snakemake has stored for a run of release 0.1."""
    return code_of_0_1(RESULTS_FOLDER / "runs" / wildcards.run)


def get_runs_before_decision(wildcards):
    """Return the records of the runs on which a decision is based."""
    repeats = int(wildcards.repeats)
    return collect(
        "<results>/runs/{run}/run.sha256",
        run=[run for run, spec in PLAN.runs.items() if spec.repeat <= repeats],
    )


def get_deciding_runs(wildcards):
    """Return what a run in reserve depends on: a decision, or the records of the runs whose spread decides."""
    if repeats := PLAN.decided_after(wildcards.run):
        return f"<results>/{DECISIONS}".format(repeats=repeats)
    return collect("<results>/runs/{run}/run.sha256", run=PLAN.reserve_of(wildcards.run))


def get_reserve_arguments(wildcards):
    """Return the arguments with which `scalestudy stage train` first decides whether the run is needed."""
    return reserve_arguments(PLAN, wildcards.run)


def get_profile_arguments(wildcards):
    """Return the profile of this workflow as arguments for the workflows that it starts."""
    return profile_arguments()


def get_verify_budget(wildcards):
    """Return the limit of device-hours for trials as a command-line option."""
    hours = PLAN.study.verify.budget_device_hours
    return [] if hours is None else ["--budget", str(hours)]


def get_trial_data_arguments(wildcards):
    """Return the location of prepared data as arguments of `scalestudy verify`; nothing for the usual one."""
    return (
        [] if RESOURCES_FOLDER == Path("resources") else ["--data", str(RESOURCES_FOLDER / "data")]
    )


def get_data(wildcards):
    """Return the config entry of the data, as JSON."""
    return DATASETS[wildcards.data].to_json()


def get_prepared_data(wildcards):
    """Return the manifest of the data of a run; nothing if they do not come in files."""
    data = PLAN.runs[wildcards.run].prepared_data
    return ancient(f"<resources>/data/{data.store_name}/manifest.json") if data else []


def get_data_arguments(wildcards, input):
    """Return the arguments that pass the location of prepared data to `scalestudy stage train`."""
    return ["--data", str(Path(input.data).parents[1])] if input.data else []
