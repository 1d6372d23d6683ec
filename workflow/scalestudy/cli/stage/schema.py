"""`scalestudy stage schema`: what is generated from the config model."""

from __future__ import annotations

from pathlib import Path

from scalestudy.cli import options


@options.verb(short_help="write the config's JSON schema and config/README.md")
@options.path("--schema", default=Path("workflow/schemas/config.schema.json"))
@options.path("--readme", default=Path("config/README.md"))
def command(schema: Path, readme: Path) -> int:
    """Write the JSON schema and the documentation of the config; both are generated from its model."""
    from scalestudy.record.files import write_text
    from scalestudy.study.document import readme_text, schema_text

    write_text(schema, schema_text())
    write_text(readme, readme_text())
    print(f"{schema}\n{readme}")
    return 0
