"""Turn the files that a study's data come in into arrays that all its runs share. What is there is kept."""

from __future__ import annotations

import argparse
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from scalestudy.cli.study_files import add_study
from scalestudy.errors import UserError
from scalestudy.prepare.prepare import prepare
from scalestudy.study.config.datasets import Data, Dataset
from scalestudy.study.config.load import load_study

HELP = "prepare the data that a study's workloads read from files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_study(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--workload", help="only the data of this workload")
    which.add_argument("--data-json", help="one entry of data as JSON instead, as a Snakemake job carries it")
    parser.add_argument(
        "--root",
        type=Path,
        default=Path("resources/data"),
        help="where prepared data lie (default: resources/data)",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.data_json:
        entry = _parse(arguments.data_json)
        wanted = {entry.store_name: entry}
    else:
        wanted = _of_study(arguments.study, arguments.workload)
    for name, data in wanted.items():
        manifest = prepare(data, arguments.root)
        size = sum(file.bytes for file in manifest.arrays.values())
        samples = " and ".join(f"{count} {part}" for part, count in manifest.samples.items())
        print(f"{data.type}: {samples} samples, {size} bytes in {arguments.root / name}")
        if manifest.texts:
            print(
                f"  {manifest.texts.vocabulary} tokens in the vocabulary;"
                f" {manifest.texts.validation_unknown_share:.1%} of the validation tokens are outside it,"
                f" {manifest.texts.cut_share:.1%} of the texts were cut"
            )
    return 0


def _of_study(paths: list[Path], workload: str | None) -> dict[str, Dataset]:
    """Data to be prepared, by the name of their store: workloads may share them."""
    workloads = load_study(*paths).workloads
    if workload is not None:
        if workload not in workloads:
            raise UserError(f"--workload {workload}: not in the study; it has {', '.join(workloads)}")
        workloads = {workload: workloads[workload]}
    wanted = {entry.data.store_name: entry.data for entry in workloads.values() if entry.data.prepared}
    if not wanted:
        print(f"nothing to prepare: the data of {', '.join(workloads)} do not come in files")
    return wanted


def _parse(text: str) -> Dataset:
    try:
        return TypeAdapter(Data).validate_json(text)
    except ValidationError as error:
        lines = []
        for item in error.errors(include_url=False):
            where = ".".join(str(part) for part in item["loc"][1:])  # the first one repeats the type
            lines.append(f"  {where}{': ' if where else ''}{item['msg'].removeprefix('Value error, ')}")
        raise UserError("--data-json: no entry of data\n" + "\n".join(lines)) from None
