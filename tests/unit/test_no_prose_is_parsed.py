"""No sentence of ours is parsed: a stage passes information to the next as a column, a field or a code.

A syntax tree does not know where a text is from, so no text is taken apart above `record`: no regular expression,
no `.str` of pandas, no test for a part of a text, no splitting, no comparison with a phrase. What is left is
listed with its reason. Affixes of identifiers (`_s`, `law_`, `.forecast.`) and bare signs are no prose.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import jinja2
import pytest
import scalestudy
from jinja2 import nodes
from scalestudy.publish.templates import DIRECTORY, template_environment

PACKAGE = Path(scalestudy.__file__).parent
FLOORS = ("analyse", "diagnose", "publish", "compare", "cli")
TAKES_APART = {
    *("startswith", "endswith", "split", "rsplit", "partition", "rpartition", "removeprefix", "removesuffix"),
    *("find", "rfind", "isalpha", "isdigit", "isnumeric"),
}

ALLOWED = {
    "analyse/trace/summary.py": ({"startswith"}, "names of events, as PyTorch's profiler writes them"),
    "analyse/trace/work.py": ({"re", "in", "startswith"}, "names of kernels and fields of a trace"),
    "cli/results/exported.py": ({"in"}, "the address of a server on the command line"),
    "cli/guard/fail_if.py": ({"re", "startswith"}, "limits on the command line"),
    "cli/verb/guard.py": ({"startswith", "split"}, "the name of a study, and words of a command line"),
    "cli/guard/revisions.py": ({"split"}, "folders of PYTHONPATH"),
    "cli/guard/sides.py": ({"in"}, "words of a command line"),
    "cli/naming.py": ({"in"}, "the name of the package in a Snakefile"),
    "cli/verb/new.py": (
        {"in", "split"},
        "fields of the config's models, and first sentences of descriptions",
    ),
    "cli/stage/before.py": ({"removeprefix"}, "messages of pydantic"),
    "cli/stage/launch.py": ({"endswith"}, "names of files"),
    "cli/own/script.py": ({"re", "isdigit"}, "words of a command line"),
    "cli/own/study.py": ({"partition", "in"}, "scales"),
    "cli/verb/run.py": ({"isdigit"}, "scales on the command line"),
    "cli/this_host.py": ({"startswith"}, "options on the command line"),
    "cli/command.py": ({"startswith"}, "options on the command line"),
    "cli/lines.py": ({"re"}, "two spaces between the columns of a table"),
    "cli/options.py": ({"startswith", "endswith"}, "words that a shell completes"),
    "diagnose/larger_batch.py": ({"in"}, "the list of ways of scaling in a workload"),
    "publish/visible.py": ({"re"}, "characters that command a terminal"),
    "publish/cells.py": ({"re"}, "how a cell begins"),
    "publish/quantity.py": ({"removesuffix"}, "units of tables that others published"),
    "compare/spelling.py": ({"re"}, "letters that fonts lack, in a name that a user has given"),
    "publish/made.py": ({"endswith"}, "the end of a CSV file"),
    "publish/embedding.py": ({"re", "split"}, "SVG of matplotlib"),
    "publish/figures/points.py": ({"in"}, "a column of a frame"),
    "publish/glossary.py": (
        {"re", "split", "partition", "in", "removesuffix"},
        "headings and links of docs/glossary.md, and HTML in which its terms are looked for",
    ),
    "publish/documents/artifact.py": ({"startswith"}, "the first word of a command line"),
    "publish/figures/panels.py": ({"split"}, "lines of a panel's name"),
    "publish/numbers/keys.py": ({"re"}, "names of operators in a trace, made to keys"),
    "publish/numbers/model.py": ({"removeprefix"}, "keys of numbers"),
    "publish/numbers/renamed.py": ({"re"}, "keys of release 0.1, which were made of phrases"),
    "publish/numbers/latex.py": ({"removeprefix"}, "keys of numbers"),
    "publish/numbers/rounding.py": ({"re"}, "siunitx's table-format of a number"),
    "publish/tables/view.py": ({"split"}, "lines of a header"),
    "publish/templates.py": ({"re", "split"}, "escaping for LaTeX"),
    "publish/typeset.py": ({"re", "in"}, "LaTeX's log and the names of its programs"),
}
"""Module -> the rules that it may break, and why."""


def broken(source: str) -> Iterator[tuple[str, int]]:
    """(rule, line) where a module reads text. Rules: the names in TAKES_APART, `re`, `str`, `in`, `phrase`."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names) if any(alias.name == "re" for alias in names):
                yield "re", node.lineno
            case ast.ImportFrom(module="re"):
                yield "re", node.lineno
            case ast.Attribute(attr="str"):
                yield "str", node.lineno
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np"))):
                continue  # np.split
            case ast.Call(func=ast.Attribute(attr=method)) if method in TAKES_APART:
                if takes_apart(method, node.args):
                    yield method, node.lineno
            case ast.Compare():
                yield from ((rule, node.lineno) for rule in compares(node))
            case ast.MatchValue(value=ast.Constant(value=str(text))) if " " in text:
                yield "phrase", node.lineno
            case ast.Subscript(slice=ast.Constant(value=str(text))) if " " in text:
                yield "phrase", node.lineno
            case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(text)), *_]) if " " in text:
                yield "phrase", node.lineno


def takes_apart(method: str, arguments: list[ast.expr]) -> bool:
    """Whether a call parses a text, except for affixes of identifiers, and calls that only remove spaces."""
    if not arguments:
        return method not in ("split", "rsplit")
    if method in ("find", "rfind") and not isinstance(arguments[0], ast.Constant):
        return False  # of something else that is looked for
    return not all(is_affix(text) for text in texts(arguments[0]))


def compares(node: ast.Compare) -> Iterator[str]:
    """`phrase` for a literal with a space on either side, `in` for a literal in what may be a text."""
    displays = (ast.Tuple, ast.List, ast.Set, ast.Dict)
    for side in (node.left, *node.comparators):
        literals = [side] if isinstance(side, ast.Constant) else list(ast.walk(side)) * isinstance(side, displays)
        if any(isinstance(item, ast.Constant) and " " in str(item.value).strip() for item in literals):
            yield "phrase"
    left, among = node.left, node.comparators[0]
    is_in = isinstance(node.ops[0], ast.In | ast.NotIn) and not isinstance(among, displays)
    if is_in and isinstance(left, ast.Constant) and isinstance(left.value, str) and not is_affix(left.value):
        yield "in"


def texts(argument: ast.expr) -> list[str]:
    """The literals of an argument; of a name, of which nothing is known, a space."""
    match argument:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.Tuple(elts=items):
            return [text for item in items for text in texts(item)]
        case ast.JoinedStr(values=parts):
            return [part.value for part in parts if isinstance(part, ast.Constant)] or [" "]
    return [" "]


def is_affix(text: str) -> bool:
    """Whether it is a part of identifiers, such as _s and .finding., or a sign that is not between words."""
    if set(text) & set(" \t\n:,;"):
        return False
    return "_" in text or "." in text or not any(character.isalnum() for character in text)


def broken_by_template(source: str, environment: jinja2.Environment) -> Iterator[tuple[str, int]]:
    """The same of a template."""
    tree = environment.parse(source)
    for node in tree.find_all(nodes.Compare):
        for side in (node.expr, *(operand.expr for operand in node.ops)):
            literals = [side] if isinstance(side, nodes.Const) else side.find_all(nodes.Const)
            if isinstance(side, nodes.Const | nodes.Tuple | nodes.List) and any(
                " " in str(item.value) for item in literals
            ):
                yield "phrase", node.lineno
        among = node.ops[0]
        displayed = isinstance(among.expr, nodes.Tuple | nodes.List | nodes.Dict)
        if among.op in ("in", "notin") and isinstance(node.expr, nodes.Const) and not displayed:
            yield "in", node.lineno
    for node in tree.find_all(nodes.Getattr):
        if node.attr in TAKES_APART:
            yield node.attr, node.lineno
    for node in tree.find_all(nodes.Filter):
        if node.name == "replace" and not is_affix(node.args[0].value):
            yield "replace", node.lineno


MODULES = {
    path.relative_to(PACKAGE).as_posix(): path for floor in FLOORS for path in (PACKAGE / floor).rglob("*.py")
}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_reads_no_text_but_what_it_is_allowed_to(name: str) -> None:
    allowed, _ = ALLOWED.get(name, (set(), ""))
    found = set(broken(MODULES[name].read_text(encoding="utf-8")))
    beyond = sorted((line, rule) for rule, line in found if rule not in allowed)
    assert not beyond, f"{name}: {beyond}; hand over a column or a code, and make words of it for readers alone"
    assert allowed == {rule for rule, _ in found}, f"{name} is allowed more than it needs"


def test_what_is_allowed_is_there() -> None:
    assert set(ALLOWED) <= set(MODULES)


@pytest.mark.parametrize("path", sorted(DIRECTORY.iterdir()), ids=lambda path: path.name)
def test_a_template_reads_no_text(path: Path) -> None:
    environment = template_environment(path.parent, path.suffix)
    assert not list(broken_by_template(path.read_text(encoding="utf-8"), environment))


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        # Laws with their weights, out of "linear 90%, logarithmic 10%".
        ('import re\nLAW = re.compile(r"([a-z][a-z -]*) (\\d+)(?=%)")', {"re"}),
        # Outcomes, out of "2 ok, 1 oom".
        ('words = [part.split(" ", 1)[1] for part in row["outcomes"].split(", ")]', {"split"}),
        ('kind = "memory" if "oom" in str(point["outcomes"]) else ""', {"in"}),
        ('if case.point["launches_ok"] or "oom" not in outcomes: pass', {"in"}),
        ('alone &= ~points["ddp_outcomes"].str.contains(r"\\bok\\b")', {"str"}),
        # Steadiness and the methods of measuring communication.
        ('n = good["steadiness"].str.startswith("two modes").sum()', {"str", "startswith"}),
        ('if as_text(row["methods"]).startswith("disagree"): pass', {"startswith"}),
        ('seen = str(case.point["unsteady"]).split(": ", 1)[1]', {"split"}),
        # What a comparison shows.
        ('alike = row.get(SHOWS.get(name, "")) == "not distinguishable"', {"phrase"}),
        ('within = margin if "equivalent" in words else ""', {"in"}),
        ('bootstrap = said if "hierarchical bootstrap" in methods else ""', {"phrase", "in"}),
        ('same = words == COUNTED["not distinguishable"][1]', {"phrase"}),
        # Names of facts, the text of an error, a commit.
        ('reading = key.startswith("hardware ") and " current " in key', {"startswith", "in"}),
        ('reason = str(error).split("\\n", 1)[1].strip()', {"split"}),
        ('dirty = any("dirty" in code for code in codes)', {"in"}),
        ('if verdict == "not measured": pass', {"phrase"}),
        ("before, after = sentence.partition(SEPARATOR)", {"partition"}),
    ],
)
def test_what_was_read_back_before_would_be_found(line: str, rules: set[str]) -> None:
    assert {rule for rule, _ in broken(line)} == rules


@pytest.mark.parametrize(
    "line",
    [
        'points = [key for key in found if key.startswith(f"{point}.")]',
        'name = column.removesuffix("_s")',
        'words = " ".join(text.split())',
        'if row["methods"] == Methods.DISAGREE: pass',
        'if column in ("speedup", "efficiency_percent"): pass',
        'minus = number.startswith("-")',
    ],
)
def test_keys_codes_and_signs_are_no_prose(line: str) -> None:
    assert not list(broken(line))


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ('{{ "mind" if row.methods.startswith("disagree") }}', "startswith"),
        ('{{ "" if d.verdict in ("not measured", "confounded") else d.row.speedup }}', "phrase"),
        ("{{ d.verdict | replace(' ', '-') }}", "replace"),
        ('{{ "oom" in row.outcomes }}', "in"),
    ],
)
def test_what_templates_read_before_would_be_found(line: str, rule: str) -> None:
    assert [found for found, _ in broken_by_template(line, jinja2.Environment())] == [rule]
