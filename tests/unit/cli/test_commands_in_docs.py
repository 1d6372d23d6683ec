"""The code in our documents: commands and options exist, YAML is valid, Python compiles."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml
from conftest import ROOT
from scalestudy.cli.main import STAGES, VERBS, program, stage

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", flags=re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"(?:^ {4,}\S.*\n?)+", flags=re.MULTILINE)


def blocks(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the language and the text of each block of code; '' is the language of an indented block."""
    text = path.read_text(encoding="utf-8")
    for _, language, block in FENCED.findall(text):
        yield language, textwrap.dedent(block)
    for block in INDENTED.findall(FENCED.sub("", text)):
        yield "", textwrap.dedent(block)


def commands(path: Path) -> Iterator[str]:
    """Yield the command lines that call scalestudy, in blocks and between backticks, without their comments."""
    text = path.read_text(encoding="utf-8")
    lines = [line for _, block in blocks(path) for line in block.replace("\\\n", " ").split("\n")]
    for line in [*lines, *re.findall(r"`([^`\n]+)`", FENCED.sub("", text))]:
        found = re.match(r"(?:\$ )?(scalestudy (?:stage )?[a-z-]+(?: .*)?)$", line.strip())
        if found and found[1].split()[1] in {*VERBS, "stage"}:
            yield found[1]


def of_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_there_is_much_to_test() -> None:
    found = [command for path in DOCUMENTS for command in commands(path)]
    assert len(found) > 100
    assert {command.split()[1] for command in found} >= set(VERBS) - {"accept", "demo"}


@pytest.mark.parametrize("path", DOCUMENTS, ids=of_name)
def test_commands_and_options_exist(path: Path) -> None:
    unknown = []
    for line in commands(path):
        words = shlex.split(line, comments=True)[1:]
        group, names = (stage, words[1:]) if words[0] == "stage" else (program, words)
        if not names or names[0].startswith("-"):
            continue
        command = group.get_command(click.Context(group), names[0].rstrip(","))
        assert command is not None or names[0] not in STAGES, line
        if command is None or command.context_settings.get("ignore_unknown_options"):
            unknown += [line] if command is None else []
            continue  # further options of `run` and `verify` are Snakemake's
        context = click.Context(command, **command.context_settings)
        known = {name for option in command.get_params(context) for name in [*option.opts, *option.secondary_opts]}
        given = names[: names.index("--")] if "--" in names else names
        wrong = [word for word in given if re.match(r"--?[a-z]", word) and word.split("=")[0] not in known]
        unknown += [f"{line}: {word}" for word in wrong]
    assert not unknown


@pytest.mark.parametrize("path", DOCUMENTS, ids=of_name)
def test_blocks_are_valid(path: Path) -> None:
    for language, text in blocks(path):
        if language == "yaml":
            assert yaml.safe_load(text), text
        if language == "python":
            compile(text, of_name(path), "exec")
