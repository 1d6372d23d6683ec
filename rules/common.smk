# Helpers only. The plan is made here, in memory, from the config: rules look runs up in it.
import hashlib
import json
import os
import shlex
import sys
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from scalestudy.errors import UserError
from scalestudy.publish.templates import template_digest
from scalestudy.publish.typeset import missing_tex
from scalestudy.record.files import write_text
from scalestudy.record.fingerprint import MEASURING, fingerprint
from scalestudy.launch.starters import Here, make_starter
from scalestudy.study.allocations import launch_min, make_allocations
from scalestudy.study.capacity import check_capacity
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.registry.figures import OF_STUDY, OF_WORKLOAD
from scalestudy.registry.tables import FILES

# `scalestudy` must be the one of the Python that runs this workflow, also where its environment is not activated.
os.environ.update(PATH=os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()]))


SUBMITTED = "SCALESTUDY_SUBMITTED"  # names the file with the config that jobs of a cluster were submitted with


def read_config():
    """The config; in a job of a cluster the one that the job was submitted with, whatever was edited since."""
    if not workflow.is_main_process and SUBMITTED in os.environ:
        return json.loads(Path(os.environ[SUBMITTED]).read_text(encoding="utf-8"))
    # A workflow that imports this one may keep Snakemake's path variables in the same mapping.
    return {key: value for key, value in config.items() if key != "pathvars"}


def make_checked_plan():
    """The plan of the config, or one clear message where the config does not allow it."""
    try:
        return make_plan(parse_study(read_config(), source="config"))
    except UserError as error:
        raise WorkflowError(str(error)) from None


PLAN = make_checked_plan()
RUNS = list(PLAN.runs)
WORKLOADS = list(PLAN.study.workloads)
CONFIG_JSON = json.dumps(PLAN.study.model_dump(mode="json"))
LIMITS = PLAN.study.limits
ALLOCATIONS = make_allocations(PLAN)
ALLOCATION_OF = {run: allocation.name for allocation in ALLOCATIONS for run in allocation.runs}
MEMORY_PER_RANK_MB = 8000  # torch with CUDA, a batch and a copy of a middling model; --set-resources has the last word
# Of the study as a whole: only those that it is about.
STUDY_FIGURES = [figure for figure in OF_STUDY if PLAN.compares(*figure.strategies)]
DRAWN = [
    *(f"{workload}_{figure.name}" for workload in WORKLOADS for figure in OF_WORKLOAD),
    *(figure.name for figure in STUDY_FIGURES),
]
TABLES = [*FILES.values(), "environment", "provenance"]
TABLE_TEMPLATES = ["table.tex", "environment_table.tex", "provenance.tex"]
DOCUMENTS = ["report", "proposal"]
DOCUMENT_TEMPLATES = [
    "document_preamble.tex",
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


def get_command():
    """What runs this study, as far as it was said on the command line."""
    settings = workflow.config_settings
    files = [
        os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
        for path in settings.configfiles
    ]
    changes = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in settings.config.items()
    ]
    return shlex.join(
        [
            "snakemake",
            *(["--configfile", *files] if files else []),
            *(["--config", *changes] if changes else []),
        ]
    )


def get_reported_figures():
    """The SVG of every figure, as Snakemake's report shows it."""
    return [
        *(
            get_reported(f"{workload}_{figure.name}", figure, workload=workload)
            for workload in WORKLOADS
            for figure in OF_WORKLOAD
        ),
        *(get_reported(figure.name, figure, workload=None) for figure in STUDY_FIGURES),
    ]


def get_reported(name, figure, *, workload):
    return report(
        f"<results>/figures/{name}.svg",
        caption=f"../report/captions/{figure.caption}.rst",
        category="Figures",
        subcategory=workload,
        labels={"figure": figure.title},
    )


def get_folder(wildcards, output):
    """Where all outputs of a job lie."""
    return str(Path(output[0]).parent)


def get_spec(wildcards):
    """The run's spec as one line of JSON: a job carries it, so that a config edited later does not change it."""
    return PLAN.runs[wildcards.run].to_json()


def get_launch_priority(wildcards):
    """Launches start in the plan's shuffled order."""
    return len(RUNS) - PLAN.launch_order(wildcards.run)


@cache
def refuse_what_does_not_fit():
    """One clear message where jobs are to run here, and a scale asks for more than there is."""
    # `--resources gpu=N`, by hand or from a profile, says how many GPUs this host offers.
    gpus = workflow.global_resources.get("gpu")
    try:
        starter = make_starter()
        here = isinstance(starter, Here)
        check_capacity(
            PLAN,
            nodes=starter.nodes,
            cores=workflow.cores if here else None,
            gpus=gpus.value if gpus and here else None,
        )
    except UserError as error:
        raise WorkflowError(str(error)) from None


@cache
def keep_config_for_jobs():
    """Jobs read the workflow again when their turn comes; they are to find what was submitted."""
    digest = hashlib.sha256(CONFIG_JSON.encode()).hexdigest()[:12]
    path = Path("results") / PLAN.study.name / "submitted" / f"{digest}.json"
    write_text(path, CONFIG_JSON)
    os.environ[SUBMITTED] = str(path.resolve())


def get_cores(wildcards):
    """Cores of one launch on each of its hosts; asked while jobs are planned, which is when to refuse them.

    Snakemake does not know where jobs will run before it plans them, nor asks for anything else as early.
    """
    if workflow.is_main_process and not workflow.dryrun:
        refuse_what_does_not_fit() if workflow.local_exec else keep_config_for_jobs()
    spec = PLAN.runs[wildcards.run]
    return spec.devices_per_node * spec.host.cores_per_rank


def get_allocation(wildcards):
    """The job of a cluster that a launch shares with others of its scale; on this host every launch is one of its own."""
    return None if workflow.local_exec else ALLOCATION_OF[wildcards.run]


def get_devices(wildcards):
    """GPUs of one launch on each of its hosts; none where the study runs on CPUs."""
    spec = PLAN.runs[wildcards.run]
    return 0 if spec.host.device == "cpu" else spec.devices_per_node


def get_local_devices(wildcards):
    """GPUs as `--resources gpu=N` counts them; a cluster is asked for them by `gres`, and for both it would refuse."""
    return get_devices(wildcards) if workflow.local_exec else 0


def get_gres(wildcards):
    """GPUs of each node as SLURM is asked for them; empty for none."""
    devices = get_devices(wildcards)
    return f"gpu:{devices}" if devices else ""


def get_nodes(wildcards):
    """Nodes of one launch, and its tasks: one on each."""
    return PLAN.runs[wildcards.run].nodes


def get_mpi(wildcards):
    """What keeps the SLURM executor from a step of its own around ours; without it two nodes would be one, in silence."""
    return "srun" if PLAN.runs[wildcards.run].nodes > 1 else ""


def get_memory_mb(wildcards):
    """Memory of each host of a launch."""
    return PLAN.runs[wildcards.run].devices_per_node * MEMORY_PER_RANK_MB


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
    return collect("<results>/runs/{run}/run.sha256", run=PLAN.reserve_of(wildcards.run))


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


# Snakemake joins jobs that do not depend on each other only in groups that it is told to join, by name. Each of ours goes
# by the name that profiles/slurm says it of, as if `allocation` were their pattern.
workflow.parent_groupids.update({allocation.name: "allocation" for allocation in ALLOCATIONS})
