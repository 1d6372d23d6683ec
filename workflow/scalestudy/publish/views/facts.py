"""All values that the text report and the page can print, by name: the same values for both templates."""

from typing import Any

import pandas as pd

from scalestudy import __version__
from scalestudy.analyse.point.spoiled import spoiled_row
from scalestudy.analyse.study.effort import effort_frame
from scalestudy.publish.environment import environment_view, hardware_view, warnings_view
from scalestudy.publish.glossary import glossary
from scalestudy.publish.numbers.keys import effort_key
from scalestudy.publish.numbers.ledger import EFFORT
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.numbers.rounding import DASH, Shown
from scalestudy.publish.results import Results
from scalestudy.publish.topology import topologies
from scalestudy.publish.traces import traces_view
from scalestudy.publish.views.answers import answers_view
from scalestudy.publish.views.bases import add_base_notes
from scalestudy.publish.views.diagnoses import diagnoses_view, leading
from scalestudy.publish.views.floors import add_floor_notes, floors_view
from scalestudy.publish.views.forecasts import ONE_NODE, UNSEEN, forecasts_view
from scalestudy.publish.views.method import method_view
from scalestudy.publish.views.rows import add_factors, rows_view
from scalestudy.publish.views.verified import verified_view
from scalestudy.publish.words import labels
from scalestudy.publish.words.causes import WEIGHTS
from scalestudy.publish.words.goals import ORDER
from scalestudy.publish.words.phrases import Phrase
from scalestudy.publish.words.points import CONFOUNDED, NOT_RESOLVED_RULE, STOPPED
from scalestudy.record.protocol import Measured, older_runs
from scalestudy.registry.codes import Goal, Stopped, Verdict, Wrapper
from scalestudy.registry.words.percent import percent
from scalestudy.registry.words.points import BASES, spoiled_by
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.study import Study
from scalestudy.study.plan import Plan
from scalestudy.study.twins import twin_name

STEPS = (
    "A step ends when the slowest rank ends it. Steps are timed in blocks, and the ranks synchronise before each"
    " block. Warm-up is dropped by MSER-5 and by the study's minimum. Validation is not part of any step."
)
STEPS_OF_SCRIPTS = (
    "A step of a script ends with its last update, on the slowest rank. Steps with an evaluation, a checkpoint or"
    " the start of an epoch are left out. Warm-up is dropped by MSER-5 and by the study's minimum."
)
STEPS_OF_IMPORTED = (
    "Step times are those of the imported logs and tables, as others measured them. The first row of a log and"
    " rows after a restart are left out, and warm-up is dropped by MSER-5."
)
"""How steps are timed."""
NO_FLOORS: dict[str, Any] = {"rows": [], "most": False, "drift": False, "missing": []}
MANY_POINTS = 200
"""With more points, the page has a separate part for each workload, closed at first."""


def document_facts(plan: Plan, results: Results, numbers: NumbersFile) -> dict[str, Any]:
    """Values for report/templates/performance_report.txt and report.html."""
    rows = rows_view(plan, results.summary, numbers)
    add_factors(rows, results.factors, numbers)
    add_base_notes(rows, plan)
    add_floor_notes(rows, plan, results, numbers)
    needed = results.runs[results.runs["outcome"] != "unneeded"]
    failed = needed[needed["outcome"] != "ok"]
    diagnoses = diagnoses_view(results.findings, rows, numbers, results.verification)
    _name_what_no_run_decides(diagnoses)
    study = study_view(plan, results.summary)
    return {
        "study": study,
        "method": method_view(study, rows),
        "glossary": glossary(),
        "workloads": list(plan.study.workloads),
        "rows": rows,
        "many_points": len(rows) > MANY_POINTS,
        "diagnoses": diagnoses,
        "answers": answers_view(diagnoses, plan.study, numbers),
        "leading": leading(diagnoses),
        "not_resolved": NOT_RESOLVED_RULE,
        "about_weights": WEIGHTS if any(one.weights for one in results.findings) else "",
        "order_of_advice": ORDER[Goal(plan.study.report.goal)],
        "verified": results.verification is not None,
        "verification": verified_view(results.verification, plan.study, numbers.numbers),
        "floors": NO_FLOORS if plan.study.imported else floors_view(plan.study, results.floors, numbers),
        "forecasts": forecasts_view(results.forecasts, numbers),
        "unseen_by_forecasts": UNSEEN + (ONE_NODE if plan.study.imported else ""),
        "hardware": hardware_view(results.environment.facts),
        "topologies": topologies(results.environment.links),
        "environment": environment_view(results.environment.facts),
        "warnings": warnings_view(results.environment, launches=len(needed)),
        "spoiled": spoiled_launches(needed),
        "protocols": older_runs(map(Measured, needed["protocol"], needed["strategy"])),
        "counted_runs": labels.counted(len(needed), "run"),
        "wall_time": wall_time_view(numbers),
        "idle": idle_view(numbers),
        "unneeded": len(results.runs) - len(needed),
        "traces": traces_view(results.traces, numbers),
        "outcomes": [(word, int(n)) for word, n in needed["outcome"].value_counts().items()],
        "failed": failed[["run_id", "outcome", "reason"]].fillna("").to_dict("records"),
    }


def _name_what_no_run_decides(diagnoses: list[dict[str, Any]]) -> None:
    """Correct why a confounded point has no more runs: its interval decides nothing about scaling."""
    for diagnosis in diagnoses:
        if (
            diagnosis["code"] == Verdict.CONFOUNDED
            and diagnosis["row"]["stopped_because"] == STOPPED[Stopped.DECIDED]
        ):
            diagnosis["row"]["stopped_because"] = CONFOUNDED


def spoiled_launches(launches: pd.DataFrame) -> str:
    """The number of disturbed runs of a study, and of runs without a watch on the host, in sentences; or ''.

    launches: rows of runs.csv.
    """
    good = launches[launches["outcome"] == "ok"]
    found, said = spoiled_row(good, good.iloc[:0]), []
    if spoiled := found["launches_spoiled"]:
        ways = spoiled_by(found["spoiled_by"])
        said.append(f"{spoiled} of {len(good)} runs {'was' if spoiled == 1 else 'were'} measured {ways}.")
    if unknown := found["launches_not_watched"]:
        said.append(f"For {unknown} of {len(good)} runs it is not known what else ran on the host.")
    return " ".join(said)


def study_view(plan: Plan, summary: pd.DataFrame) -> dict[str, Any]:
    """Values for the heads and captions of a study's documents."""
    study = plan.study
    distributed, bases = summary[summary["world_size"] > 1], summary[summary["is_base"]]
    return {
        "name": study.name,
        "description": study.description,
        "confidence": percent(study.report.confidence),
        "accuracy_margin": labels.points(study.report.accuracy_margin),
        "target_efficiency": percent(study.report.target_efficiency),
        "cores": _cores(study, summary),
        "intervals": labels.intervals(study, set(summary["interval"]), summary["launches_ok"]),
        "base": _base(plan, summary),
        "steps": STEPS_OF_IMPORTED if study.imported else STEPS_OF_SCRIPTS if _is_of_scripts(plan) else STEPS,
        "imported": study.imported,
        "unit": "tokens" if _in_tokens(plan) else "samples",
        "base_variants": ", ".join(sorted(set(distributed["base_variant"]) or set(bases["variant"]))) or DASH,
        "devices": ", ".join(sorted({str(device) for device in summary["device"].dropna()}))
        or ("not known" if study.imported else DASH),
        "version": __version__,
    }


def _cores(study: Study, summary: pd.DataFrame) -> str:
    """Cores per rank: the study's number, or the range over hosts if the study sets no number."""
    if study.host.cores_per_rank is not None:
        return labels.counted(study.host.cores_per_rank, "CPU core")
    given = sorted({int(threads) for threads in summary["threads_per_rank"].dropna()})
    if not given:
        return "an unknown number of CPU cores"
    several = f"{given[0]} to {given[-1]}" if len(given) > 1 else given[0]
    return labels.counted(several, "CPU core")


def _in_tokens(plan: Plan) -> bool:
    return any(getattr(workload, "unit", "") == "tokens" for workload in plan.study.workloads.values())


def _is_of_scripts(plan: Plan) -> bool:
    return any(isinstance(workload, CommandWorkload) for workload in plan.study.workloads.values())


def _base(plan: Plan, summary: pd.DataFrame) -> str:
    """What the baselines are: the plain model, or a model in a wrapper, which is not known of imported runs."""
    study = plan.study
    several = sorted({int(row) for row in summary.get("base_world_size", ()) if row > 1})
    if several:
        return f"the runs on {labels.listed([*map(str, several)])} devices"
    if study.imported:
        return "the runs on one device"
    bases = summary.loc[summary["is_base"]]
    wrappers = set(bases["wrapper"])
    unwrapped = bases.loc[bases["wrapper"] == Wrapper.NONE, "variant"]
    if _is_of_scripts(plan) and any(study.variants[name].launcher == "torchrun" for name in unwrapped):
        return "one process of the script, with neither DDP nor FSDP"
    return ", or ".join(said for wrapper, said in BASES.items() if wrapper in wrappers) or BASES[Wrapper.NONE]


def wall_time_view(numbers: NumbersFile) -> Phrase:
    """The parts of the wall time of all runs, in a sentence; '' for older records without them."""
    effort = effort_key()
    if not numbers.number(f"{effort}.training_percent"):
        return Phrase()
    said = "{training_percent} % training and validation, {probe_percent} % probes, the rest start-up and shutdown"
    said += ". Another {waiting_min} min passed between runs"
    return numbers.phrase(effort, f"Total wall time of the runs: {{wall_time_min}} min: {said}")


def idle_view(numbers: NumbersFile) -> Phrase:
    """The idle share of the device-hours in jobs of a cluster, in a sentence; '' without idle devices."""
    effort = effort_key()
    idle = numbers.number(f"{effort}.idle_device_hours")
    if idle is None or not idle.value > 0:
        return Phrase()
    said = "{device_hours} device-hours, including {idle_device_hours} of idle devices"
    return numbers.phrase(effort, f"{said}: a job runs all scales of a repeat")


def effort_view(plan: Plan, runs: pd.DataFrame, numbers: NumbersFile) -> dict[str, Any]:
    """The cost of a study: `workloads`, each with its variants in the study's order; `total`; `untimed` runs."""
    frame = effort_frame(runs)
    variants = dict.fromkeys((*plan.study.variants, *map(twin_name, plan.study.variants)))
    made = set(zip(frame["workload"], frame["variant"], strict=True))

    def took(*words: str) -> dict[str, Shown]:
        return {name: numbers.shown(effort_key(*words, name)) for name in EFFORT}

    return {
        "workloads": [
            {
                "workload": workload,
                "variants": [
                    {"variant": variant} | took(workload, variant)
                    for variant in variants
                    if (workload, variant) in made
                ],
                **took(workload),
            }
            for workload in plan.study.workloads
        ],
        "total": took(),
        "untimed": int((frame["launches"] - frame["timed"]).sum()),
    }
