"""Checks our texts against docs/style.md with proselint: its own checks, and the expressions of docs/style.toml.

    python tests/prose.py [PATH...]

Reads Markdown, captions, templates, rules, YAML comments, and in Python docstrings, comments and longer strings.
Prints one line per finding, `FILE:LINE: expression: what to write instead`; ends with 1 if there are any.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

from proselint.checks import __register__ as PROSELINT
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, Padding, types
from proselint.registry.checks.engine import Fancy
from proselint.tools import LintFile

ROOT = Path(__file__).resolve().parent.parent
STYLE = ROOT / "docs" / "style.toml"
NOT_READ = ("docs/style.md", "docs/style.toml", "tests/", "docs/schemas/", "workflow/schemas/", "constraints/")
"""Style and schemas quote other texts; users of the tool do not read tests."""
ENABLED = (
    *("habits", "annotations", "archaism", "cliches", "malapropisms", "mixed_metaphors"),
    *("mondegreens", "needless_variants", "nonwords", "oxymorons", "redundancy", "spelling.misc", "uncomparables"),
    *("weasel_words", "misc.illogic", "misc.metadiscourse", "misc.suddenly", "misc.but"),
)
CODE = re.compile(r"``[^`]*``|`[^`\n]*`")
LINK = re.compile(r"\]\([^)\s]*\)|https?://\S+")


def habits() -> tuple[Check, ...]:
    """Return the expressions of the style file, as checks of proselint."""
    found = tomllib.loads(STYLE.read_text(encoding="utf-8"))["habit"]
    return tuple(
        Check(
            check_type=types.ExistenceSimple(pattern=Padding.WORDS_IN_TEXT.format(f"(?:{avoid})")),
            engine=Fancy(),
            path="habits",
            message="{}: " + instead.replace("{", "{{").replace("}", "}}"),
        )
        for habit in found
        for avoid, instead in habit["instead"].items()
    )


def blanked(text: str, pattern: re.Pattern[str], by: str = " ") -> str:
    """Replace every match by blanks or another character, so that lines and columns do not move."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", by, match[0]), text)


def of_markdown(text: str) -> str:
    """Return Markdown or reStructuredText without code."""
    text = blanked(text, re.compile(r"^```.*?^```", re.M | re.S))
    text = blanked(text, re.compile(r"^(?: {4}|\t).*$", re.M))
    return blanked(blanked(text, CODE, "¤"), LINK)


def of_template(text: str) -> str:
    """Return a template without its program, but with the texts within it."""
    program = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<%.*?%>|<<.*?>>|<#.*?#>", re.S)

    def texts_of(match: re.Match[str]) -> str:
        inner = re.compile(r'"([^"\n]* [^"\n]* [^"\n]*)"')
        kept = [one.span(1) for one in inner.finditer(match[0])]
        return "".join(
            one if one == "\n" or any(low <= at < high for low, high in kept) else " "
            for at, one in enumerate(match[0])
        )

    text = program.sub(texts_of, text)
    return blanked(text, re.compile(r"<style.*?</style>|<script.*?</script>|<[^<>]*>|\\[a-zA-Z]+", re.S))


def of_comments(text: str) -> str:
    """Return the comments of rules, profiles and studies, and the docstrings of rules."""
    kept = re.compile(r'#[^\n]*|"""(?:.*?)"""', re.S)
    return _only(text, (match.span() for match in kept.finditer(text)))


WORDS = re.compile(r"[A-Za-z]+ [A-Za-z]+ [A-Za-z]+")


def of_python(text: str) -> str:
    """Return comments, docstrings, and other strings of at least three words, without the code within them."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    spans = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_prose = token.type == tokenize.COMMENT or (token.type == tokenize.STRING and WORDS.search(token.string))
        if is_prose and not token.string.startswith(("# noqa", "# type:", 'r"', "r'", 'rb"')):
            spans.append(tuple(starts[row - 1] + column for row, column in (token.start, token.end)))
    return blanked(blanked(_only(text, iter(spans)), CODE, "¤"), re.compile(r"\{[^{}\n]*\}"), "¤")


def _only(text: str, spans: Iterator[tuple[int, int]]) -> str:
    kept, last = [], 0
    for low, high in spans:
        kept += [re.sub(r"[^\n]", " ", text[last:low]), text[low:high]]
        last = high
    return "".join([*kept, re.sub(r"[^\n]", " ", text[last:])])


READERS: dict[str, Callable[[str], str]] = {
    ".md": of_markdown,
    ".rst": of_markdown,
    ".txt": of_template,
    ".html": of_template,
    ".tex": of_template,
    ".smk": of_comments,
    ".yaml": of_comments,
    "": of_comments,
    ".sh": of_comments,
    ".toml": of_comments,
    ".py": of_python,
}


def texts() -> list[Path]:
    """Return all of our files with prose that git tracks."""
    told = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in told.split("\0") if name and not name.startswith(NOT_READ)]
    paths = [ROOT / name for name in names if Path(name).suffix in READERS]
    return [path for path in paths if path.is_file() and not path.is_symlink() and path.name[0] != "."]


def findings(path: Path) -> list[str]:
    """Return one line per finding in a file."""
    read = READERS[path.suffix](path.read_text(encoding="utf-8"))
    if not read.strip():
        return []
    linted = LintFile(str(path), read).lint({"max_errors": 10_000, "checks": dict.fromkeys(ENABLED, True)})
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    return [f"{shown}:{one.pos[0] - 1}: {one.check_result.message}" for one in linted]


def main(paths: list[str]) -> int:
    CheckRegistry().register_many((*PROSELINT, *habits()))
    asked = [Path(path).resolve() for path in paths] or [ROOT]
    chosen = [path for path in asked if path.is_file()]
    folders = [path for path in asked if path.is_dir()]
    chosen += [path for path in texts() if folders and any(path.is_relative_to(folder) for folder in folders)]
    lines = [line for path in chosen for line in findings(path)]
    print("\n".join(lines) if lines else "no finding")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
