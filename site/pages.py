"""Writes the generated pages of the site into docs/reference/: commands, stages, library, JSON schemas, causes.

Each build writes the folder again, and git ignores it. The text of a command is the text of its `--help`: a
formatter of click writes Markdown instead of columns.
"""

import html
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import gallery
import library
from scalestudy.cli.main import STAGES, VERBS, program, stage
from scalestudy.diagnose.cause import Stage
from scalestudy.diagnose.causes import CAUSES

FOLDER = "docs/reference"
SPECIAL = re.compile(r"([\\*_\[\]<>{}$|#~])")
"""Characters that Markdown could read as markup."""
STEPS = {
    Stage.VALIDITY: "Validity",
    Stage.HOST: "Host and input",
    Stage.STRAGGLER: "Stragglers",
    Stage.TRANSPORT: "The link itself",
    Stage.STRUCTURE: "Structure of the wrapper",
    Stage.SIZE: "Size of the work",
    Stage.BESIDE: "Findings that do not concern the speed",
}


def write(root: Path) -> None:
    """Write all generated pages. A page whose text is unchanged keeps its time, so that Sphinx reads it once."""
    texts = {
        **{f"commands/{name}.md": command_text(program, name, "scalestudy") for name in VERBS},
        **{f"stages/{name}.md": command_text(stage, name, "scalestudy stage") for name in STAGES},
        "commands.md": group_text("Commands", program, "commands", VERBS),
        "stages.md": group_text("Stages", stage, "stages", STAGES),
        "causes.md": causes_text(),
        "gallery.md": gallery.text(),
        "library.md": library.text(escaped),
    }
    schemas = {path.name.split(".")[0]: path for path in sorted((root / "docs/schemas").glob("*.schema.json"))}
    read = {name: json.loads(path.read_text(encoding="utf-8")) for name, path in schemas.items()}
    texts |= {f"schemas/{name}.md": schema_text(name, schema) for name, schema in read.items()}
    texts["schemas.md"] = schemas_text(read)
    folder = root / FOLDER
    for path in folder.rglob("*.md"):
        if path.relative_to(folder).as_posix() not in texts:
            path.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


class MarkdownFormatter(click.HelpFormatter):
    """Collects the help of a command as Markdown: a section for a heading, a directive for an option."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the usage as a block of code."""
        self.write(f"```text\n{prog} {args}\n```\n\n")

    def write_heading(self, heading: str) -> None:
        """Write a heading."""
        self.write(f"## {heading}\n\n")

    def write_text(self, text: str) -> None:
        """Write a help text. A paragraph of lines that are indented or begin with a command is code."""
        self.write(prose(text) + "\n\n")

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write options with their help."""
        for names, help in rows:
            self.write(f":::{{option}} {names}\n{escaped(help)}\n:::\n\n")


def command_text(group: click.Group, name: str, path: str) -> str:
    """Return the page of a command: its help, and its options with an anchor each."""
    context = click.Context(group, info_name=path, **group.context_settings)
    command = group.get_command(context, name)
    formatter = MarkdownFormatter()
    own = click.Context(command, info_name=name, parent=context, **command.context_settings)
    command.format_help(own, formatter)
    return f"# {path} {name}\n\n```{{program}} {path} {name}\n```\n\n{formatter.getvalue().strip()}\n"


def group_text(title: str, group: click.Group, folder: str, names: Sequence[str]) -> str:
    """Return the page that lists the commands of a group."""
    context = click.Context(group)
    rows = [f"| [{name}]({folder}/{name}.md) | {escaped(short_help(group, context, name))} |" for name in names]
    tree = "\n".join(f"{folder}/{name}" for name in names)
    intro = escaped(group.help or "")
    return f"# {title}\n\n{intro}\n\n| name | what it does |\n| --- | --- |\n" + "\n".join(rows) + toctree(tree)


def short_help(group: click.Group, context: click.Context, name: str) -> str:
    """Return the line of a command in the list of its group."""
    command = group.get_command(context, name)
    return command.get_short_help_str(200) if command else ""


def toctree(entries: str) -> str:
    """Return a list of pages for the side bar only."""
    return f"\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def prose(text: str) -> str:
    """Return a help text as Markdown."""
    parts = []
    for part in re.split(r"\n\s*\n", "\n".join(line.strip("\b") for line in text.strip("\n").split("\n"))):
        lines = [line.rstrip() for line in part.strip("\n").split("\n") if line.strip()]
        if lines and lines[0].lstrip().startswith("scalestudy "):
            parts.append("```bash\n" + "\n".join(line.strip("\n") for line in lines) + "\n```")
        elif lines:
            parts.append(escaped(" ".join(line.strip() for line in lines)))
    return "\n\n".join(parts)


def escaped(text: str) -> str:
    """Return plain text so that Markdown shows it as it is; code in backticks stays code."""
    pieces = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(piece if piece[:1] == "`" else SPECIAL.sub(r"\\\1", piece) for piece in pieces)


def causes_text() -> str:
    """Return the page of causes, in the order in which they are looked for."""
    parts = [
        "# Causes\n\nThe causes that the diagnosis looks for, in the order of decision, as the code declares them."
        " [diagnosis.md](../diagnosis.md) explains the order, and how a cause near its threshold is treated."
    ]
    for step, title in STEPS.items():
        parts.append(f"## {title}")
        for cause in (one for one in CAUSES if one.stage == step):
            doc = prose(cause.look.__doc__ or "")
            parts.append(f"### {cause.id}\n\n{doc}\n\nWhat would refute it: {escaped(cause.refuted_by)}.")
    return "\n\n".join(parts) + "\n"


def schemas_text(schemas: dict[str, dict[str, Any]]) -> str:
    """Return the page that lists the JSON files."""
    rows = []
    for name, schema in schemas.items():
        first = escaped((schema.get("description") or "").split("\n\n")[0])
        rows.append(f"| [{name}](schemas/{name}.md) | {first} | [schema](../schemas/{name}.schema.json) |")
    tree = "\n".join(f"schemas/{name}" for name in schemas)
    intro = "The JSON files that scalestudy writes, generated from the models that write and read them."
    head = "| file | content | schema |\n| --- | --- | --- |"
    return "\n".join([f"# JSON files\n\n{intro}\n\n{head}", *rows]) + toctree(tree)


def schema_text(name: str, schema: dict[str, Any]) -> str:
    """Return the page of a JSON file: its keys, and those of each object in it."""
    parts = [f"# {name}\n\n{escaped(schema.get('description') or '')}", properties(schema)]
    for title, part in schema.get("$defs", {}).items():
        parts.append(f"## {title}\n\n{escaped(part.get('description') or '')}")
        parts.append(properties(part) if "properties" in part else f"Type: {kind(part)}.")
    return "\n\n".join(part for part in parts if part) + "\n"


def properties(part: dict[str, Any]) -> str:
    """Return the table of an object's keys."""
    needed = part.get("required", ())
    rows = [
        f"| `{name}` | {kind(one)} | {'yes' if name in needed else ''} | {escaped(one.get('description') or '')} |"
        for name, one in part.get("properties", {}).items()
    ]
    return "| key | type | required | meaning |\n| --- | --- | --- | --- |\n" + "\n".join(rows) if rows else ""


def kind(part: dict[str, Any]) -> str:
    """Return a JSON schema type in words; a type with a section of its own is a link."""
    if "$ref" in part:
        name = part["$ref"].split("/")[-1]
        return f"[{name}](#{slug(name)})"
    if "enum" in part:
        return " or ".join(f"`{json.dumps(value)}`" for value in part["enum"])
    if "const" in part:
        return f"`{json.dumps(part['const'])}`"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in part:
            return " or ".join(dict.fromkeys(kind(one) for one in part[key]))
    if part.get("type") == "array":
        items = part.get("prefixItems") or [part.get("items", {})]
        return "list of " + ", ".join(dict.fromkeys(kind(one) for one in items))
    if part.get("type") == "object" and isinstance(part.get("additionalProperties"), dict):
        return f"object of {kind(part['additionalProperties'])}"
    return html.escape(str(part.get("type", "any value")))


def slug(title: str) -> str:
    """Return the anchor of a heading, as MyST makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
