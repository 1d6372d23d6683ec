"""`scalestudy stage schema`: what is generated from our models."""

from __future__ import annotations

from pathlib import Path

from scalestudy.cli import options


@options.verb(short_help="write the JSON schemas (workflow/schemas, docs/schemas) and config/README.md")
@options.path("--schema", default=Path("workflow/schemas/config.schema.json"))
@options.path("--readme", default=Path("config/README.md"))
@options.path("--documents", default=Path("docs/schemas"))
def command(schema: Path, readme: Path, documents: Path) -> int:
    """Write what our models generate: schema and documentation of the config, schemas of all JSON files."""
    from scalestudy.record.files import write_text
    from scalestudy.reference.config import readme_text, schema_text
    from scalestudy.reference.schemas import schemas

    write_text(schema, schema_text())
    write_text(readme, readme_text())
    for name, text in schemas().items():
        write_text(documents / f"{name}.schema.json", text)
    print(f"{schema}\n{readme}\n{documents}")
    return 0
