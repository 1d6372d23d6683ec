"""`scalestudy stage prepare`: arrays of the data sets that come in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalestudy.cli import options
from scalestudy.cli.naming import find_study
from scalestudy.errors import UserError

if TYPE_CHECKING:
    from scalestudy.study.config.datasets import Data
    from scalestudy.study.config.study import Study


@options.verb(short_help="prepare the data that workloads read from files")
@options.study
@options.results
@click.option("--workload", metavar="NAME", help="Prepare only the data of this workload.")
@click.option("--data-json", metavar="JSON", help="One entry of data as JSON, as a Snakemake job carries it.")
@options.data
def command(
    study: tuple[Path, ...], results: Path | None, workload: str | None, data_json: str | None, data: Path
) -> int:
    """Turn the files of a study's data into arrays that all its runs share. Data that are prepared are kept."""
    from scalestudy.prepare.prepare import prepare

    if data_json and workload:
        raise UserError("--data-json and --workload: give one of them")
    if data_json:
        entry = _parse(data_json)
        wanted = {entry.store_name: entry}
    else:
        wanted = _of_study(find_study(study, results), workload)
    for name, dataset in wanted.items():
        manifest = prepare(dataset, data)
        size = sum(file.bytes for file in manifest.arrays.values())
        samples = " and ".join(f"{count} {part}" for part, count in manifest.samples.items())
        print(f"{dataset.type}: {samples} samples, {size} bytes in {data / name}")
        if manifest.texts:
            print(
                f"  {manifest.texts.vocabulary} tokens in the vocabulary;"
                f" {manifest.texts.validation_unknown_share:.1%} of the validation tokens are outside it,"
                f" {manifest.texts.cut_share:.1%} of the texts were cut"
            )
    return 0


def _of_study(study: Study, workload: str | None) -> dict[str, Data]:
    """Data to be prepared, by the name of their store: workloads may share them."""
    workloads = study.workloads
    if workload is not None:
        if workload not in workloads:
            raise UserError(f"--workload {workload}: not in the study; it has {', '.join(workloads)}")
        workloads = {workload: workloads[workload]}
    wanted = {entry.data.store_name: entry.data for entry in workloads.values() if entry.data.prepared}
    if not wanted:
        print(f"nothing to prepare: the data of {', '.join(workloads)} do not come in files")
    return wanted


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
        raise UserError("--data-json: no entry of data\n" + "\n".join(lines)) from None
