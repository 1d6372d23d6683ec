"""Stages between the runs and the documents: statistics, then verdicts, causes and recommendations."""

from pathlib import Path

import click

from scalestudy.cli.options import of_results
from scalestudy.registry.results import RESULTS


@of_results("Combine observations into comprehensive_summary.csv, runs.csv and other tables.")
def aggregate(results: Path) -> int:
    """Combine all observations of a plan into the tables and documents that the later stages read."""
    from scalestudy.cli.stage.observations import aggregate

    print(aggregate(results))
    return 0


@of_results("Decide which runs follow the first repeats (decisions/after_N.json).")
@click.option("--after", type=click.IntRange(min=1), required=True, help="Number of repeats to decide on.")
def decide(results: Path, after: int) -> int:
    """Decide from the first repeats which runs are needed next; for `measure.until: decided`."""
    from scalestudy.cli.stage.observations import decide

    print(decide(results, after))
    return 0


@of_results("Write verdicts, findings and recommendations (findings.json).")
def diagnose(results: Path) -> int:
    """Diagnose every point of the summary: verdict, cause, evidence, recommendation. Writes findings.json."""
    from scalestudy.cli.results.inputs import plan_of, table_of
    from scalestudy.diagnose.findings import FindingsFile
    from scalestudy.diagnose.study import diagnose_study
    from scalestudy.publish.words.points import VERDICTS
    from scalestudy.record.document import write_document
    from scalestudy.verify.payback import with_paybacks

    plan = plan_of(results)
    study = plan.study
    found = diagnose_study(study, table_of(results, "summary"), table_of(results, "forecasts"))
    tables = () if study.imported else (table_of(results, "runs"), table_of(results, "epochs"))
    diagnoses = with_paybacks(plan, found, *tables) if tables else found
    write_document(results / RESULTS["findings"], FindingsFile(study=study.name, diagnoses=tuple(diagnoses)))
    for d in diagnoses:
        verdict = f"{VERDICTS[d.verdict]} ({d.sentence})"
        print(f"{d.workload} {d.variant} {d.scaling} on {d.world_size} ranks: {verdict}")
    return 0
