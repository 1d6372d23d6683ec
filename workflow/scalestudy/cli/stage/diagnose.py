"""`scalestudy stage diagnose`: verdicts, causes and recommendations."""

from __future__ import annotations

from pathlib import Path

from scalestudy.cli.options import of_results
from scalestudy.registry.results import RESULTS


@of_results("summary -> verdicts, findings and recommendations (findings.json)")
def command(results: Path) -> int:
    """Judge every point of the summary: verdict, cause, evidence, recommendation; written as findings.json."""
    from scalestudy.cli.inputs import plan_of, table_of
    from scalestudy.diagnose.findings import FindingsFile
    from scalestudy.diagnose.study import diagnose_study
    from scalestudy.publish.words.verdicts import VERDICTS
    from scalestudy.record.document import write_document

    study = plan_of(results).study
    diagnoses = diagnose_study(study, table_of(results, "summary"), table_of(results, "forecasts"))
    found = FindingsFile(study=study.name, diagnoses=tuple(diagnoses))
    write_document(results / RESULTS["findings"], found)
    for d in diagnoses:
        verdict = f"{VERDICTS[d.verdict]} ({d.sentence})"
        print(f"{d.workload} {d.variant} {d.scaling} on {d.world_size} ranks: {verdict}")
    return 0
