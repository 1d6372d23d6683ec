"""Stages before the first run: the plan, prepared data, and files generated from our models and registry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalestudy.cli import options
from scalestudy.cli.naming import find_study, results_of
from scalestudy.errors import UserError
from scalestudy.registry.words.percent import percent

if TYPE_CHECKING:
    from scalestudy.study.config.datasets import Data


@options.verb(short_help="Write the plan of a study (plan.json).")
@options.study
@options.results
@click.option("--config-json", metavar="JSON", help="The study as JSON, instead of a file; Snakemake passes it.")
def plan(study: tuple[Path, ...], results: Path | None, config_json: str | None) -> int:
    """Write plan.json with every run of a study, and print its largest possible cost."""
    from scalestudy.cli.plan.cost import plan_lines
    from scalestudy.record.files import write_json
    from scalestudy.registry.results import RESULTS
    from scalestudy.study.config.load import parse_json
    from scalestudy.study.plan import make_plan

    plan = make_plan(parse_json(config_json, source="config") if config_json else find_study(study, results))
    write_json((results or results_of(plan.study)) / RESULTS["plan"], plan.model_dump(mode="json"))
    print("\n".join(plan_lines(plan)))
    return 0


@options.verb(short_help="Prepare the data that workloads read from files.")
@options.study
@options.results
@click.option("--workload", metavar="NAME", help="Prepare only the data of this workload.")
@click.option("--data-json", metavar="JSON", help="One `data` entry of a study as JSON; Snakemake passes it.")
@options.data
def prepare(
    study: tuple[Path, ...], results: Path | None, workload: str | None, data_json: str | None, data: Path
) -> int:
    """Convert the data files of a study into arrays that all its runs share. Prepared data are kept."""
    from scalestudy.prepare.prepare import prepare

    if data_json and workload:
        raise UserError("--data-json and --workload: give only one of them")
    if data_json:
        entry = _parse(data_json)
        wanted = {entry.store_name: entry}
    else:
        asked = find_study(study, results)
        if workload is not None:
            if workload not in asked.workloads:
                raise UserError(f"--workload {workload}: not in the study; it has {', '.join(asked.workloads)}")
            asked = asked.model_copy(update={"workloads": {workload: asked.workloads[workload]}})
        wanted = asked.data_in_files
        if not wanted:
            print(f"nothing to prepare: the data of {', '.join(asked.workloads)} are not read from files")
    for name, dataset in wanted.items():
        manifest = prepare(dataset, data)
        size = sum(file.bytes for file in manifest.arrays.values())
        samples = " and ".join(f"{count} {part}" for part, count in manifest.samples.items())
        print(f"{dataset.type}: {samples} samples, {size} bytes in {data / name}")
        if manifest.texts:
            print(
                f"  {manifest.texts.vocabulary} tokens in the vocabulary;"
                f" {percent(manifest.texts.validation_unknown_share, 1)} of the validation tokens are outside it,"
                f" {percent(manifest.texts.cut_share, 1)} of the texts were cut"
            )
    return 0


def _parse(text: str) -> Data:
    from pydantic import TypeAdapter, ValidationError

    from scalestudy.study.config.datasets import Data

    try:
        return TypeAdapter(Data).validate_json(text)
    except ValidationError as error:
        lines = []
        for item in error.errors(include_url=False):
            where = ".".join(str(part) for part in item["loc"][1:])  # the first one repeats the type
            lines.append(f"  {where}{': ' if where else ''}{item['msg'].removeprefix('Value error, ')}")
        raise UserError("--data-json: not a valid `data` entry\n" + "\n".join(lines)) from None


@options.verb(short_help="Write generated files: JSON schemas, config/README.md, docs/columns.md, captions.")
@options.path("--schema", default=Path("workflow/schemas/config.schema.json"))
@options.path("--readme", default=Path("config/README.md"))
@options.path("--documents", default=Path("docs/schemas"))
@options.path("--columns", default=Path("docs/columns.md"))
@options.path("--captions", default=Path("report/captions"))
def schema(schema: Path, readme: Path, documents: Path, columns: Path, captions: Path) -> int:
    """Write the files generated from our models and registry: documentation, schemas, captions."""
    from scalestudy.record.files import write_text
    from scalestudy.reference.captions import captions as texts
    from scalestudy.reference.columns import columns_text
    from scalestudy.reference.config import readme_text, schema_text
    from scalestudy.reference.schemas import schemas

    write_text(schema, schema_text())
    write_text(readme, readme_text())
    for name, text in schemas().items():
        write_text(documents / f"{name}.schema.json", text)
    write_text(columns, columns_text())
    for name, text in texts().items():
        write_text(captions / f"{name}.rst", text)
    print(schema, readme, documents, columns, captions, sep="\n")
    return 0
