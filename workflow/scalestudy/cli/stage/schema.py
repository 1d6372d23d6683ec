"""`scalestudy stage schema`: what is generated from our models."""

from __future__ import annotations

from pathlib import Path

from scalestudy.cli import options


@options.verb(short_help="write what is generated: JSON schemas, config/README.md, docs/columns.md, captions")
@options.path("--schema", default=Path("workflow/schemas/config.schema.json"))
@options.path("--readme", default=Path("config/README.md"))
@options.path("--documents", default=Path("docs/schemas"))
@options.path("--columns", default=Path("docs/columns.md"))
@options.path("--captions", default=Path("report/captions"))
def command(schema: Path, readme: Path, documents: Path, columns: Path, captions: Path) -> int:
    """Write what our models and registry generate: documentation, schemas, captions."""
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
