"""Write what is generated from our models: schema and documentation of the config, schemas of all JSON files."""

from __future__ import annotations

import argparse
from pathlib import Path

from scalestudy.record.files import write_text
from scalestudy.reference.config import readme_text, schema_text
from scalestudy.reference.schemas import schemas

HELP = "write JSON schemas (workflow/schemas, docs/schemas) and config/README.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--schema", type=Path, default=Path("workflow/schemas/config.schema.json"))
    parser.add_argument("--readme", type=Path, default=Path("config/README.md"))
    parser.add_argument("--documents", type=Path, default=Path("docs/schemas"))


def run(arguments: argparse.Namespace) -> int:
    write_text(arguments.schema, schema_text())
    write_text(arguments.readme, readme_text())
    for name, text in schemas().items():
        write_text(arguments.documents / f"{name}.schema.json", text)
    print(f"{arguments.schema}\n{arguments.readme}\n{arguments.documents}")
    return 0
