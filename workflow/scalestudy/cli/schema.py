"""Write the JSON schema and the documentation of the config, both made from its model."""

from __future__ import annotations

import argparse
from pathlib import Path

from scalestudy.record.files import write_text
from scalestudy.study.document import readme_text, schema_text

HELP = "write the config's JSON schema and config/README.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--schema", type=Path, default=Path("workflow/schemas/config.schema.json"))
    parser.add_argument("--readme", type=Path, default=Path("config/README.md"))


def run(arguments: argparse.Namespace) -> int:
    write_text(arguments.schema, schema_text())
    write_text(arguments.readme, readme_text())
    print(f"{arguments.schema}\n{arguments.readme}")
    return 0
