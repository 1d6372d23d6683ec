"""Jinja, set up for each kind of document with its delimiters and escaping. Undefined names are errors."""

import base64
import hashlib
import re
import textwrap
from pathlib import Path
from typing import Any

import jinja2
import yaml
from markupsafe import Markup, escape

from scalestudy.errors import UserError
from scalestudy.project import root
from scalestudy.publish.glossary import with_terms
from scalestudy.publish.visible import visible
from scalestudy.registry.words.lines import filled

DIRECTORY = root() / "report" / "templates"
LONG_WORD = 20
"""A longer word can be broken in LaTeX, also where hyphenation has no break."""

BACKTICKS = re.compile(r"`([^`\n]+)`")
"""Code in a sentence, without its backticks."""
_LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "{}$&#%_"}
    | {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': "''",
        "`": "{`}",  # ?` and !` would be ligatures
    }
)
_CODE = {sign: f"{sign}{{}}" for sign in "-<>,"} | {sign: f"{{\\char{ord(sign)}}}" for sign in "'\"`"}
"""Punctuation of code; quotes look as on the keyboard in every encoding of a typewriter font."""
_TEX: dict[str, Any] = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
}


def render(template: Path, **values: Any) -> str:
    """The rendered text of a template.

    `.tex` files use <% %> and << >>, with filters that escape for LaTeX; `.html` files are escaped for HTML.

    Raises UserError with the template's name if it is missing, malformed, or uses an undefined name.
    """
    suffix = template.suffixes[0] if template.suffixes else ""
    environment = template_environment(template.parent, suffix)
    try:
        return environment.get_template(template.name).render(**values)
    except jinja2.TemplateNotFound:
        raise UserError(f"{template}: no such template") from None
    except (jinja2.TemplateSyntaxError, jinja2.TemplateRuntimeError) as error:
        raise UserError(f"{template}: {error}") from None


def template_digest(*names: str) -> str:
    """Digest of our templates. A rule with this parameter runs again when one of them changes."""
    return hashlib.sha256(b"".join((DIRECTORY / name).read_bytes() for name in names)).hexdigest()[:12]


def source_hash(source: str) -> str:
    """The hash by which a content security policy allows a script or a style sheet; browsers refuse others."""
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode("ascii")


def latex(value: Any) -> str:
    """User text escaped for LaTeX. A character that the fonts may lack is written as its code point."""
    return re.sub(r"[^\x20-\x7e\xa1-\xff]", lambda m: f"(U+{ord(m[0]):04X})", str(value).translate(_LATEX))


def markdown(value: Any) -> str:
    """User text on one line of Markdown, without any markup: neither links nor HTML."""
    return re.sub(r"([\\`*{}\[\]<>#|~&!$]|(?<!\w)_|_(?!\w))", r"\\\1", " ".join(str(value).split()))


def breakable(value: Any, long: int = LONG_WORD) -> str:
    """The text as from `latex`, with line breaks allowed in long words: after punctuation, or else anywhere.

    No hyphen is printed at such a break, so that text copied from the page is unchanged.
    """
    words = re.split(r"( +)", re.sub(r"[ \t]*[\n\t]\s*", " ", str(value)))
    return "".join(_broken(word) if len(latex(word)) > long else latex(word) for word in words)


def counted(value: Any) -> str:
    """The text as from `latex`, with no line break between a number and the word after it."""
    return re.sub(r"(?<=\d) ", "~", latex(value))


def with_code(value: Any) -> Markup:
    """User text escaped for HTML, with the words between two backticks as code."""
    parts = [escape(part) for part in BACKTICKS.split(visible(str(value)))]  # code is at odd indices
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else part for index, part in enumerate(parts)
    )


def prose(value: Any) -> str:
    """The text as from `breakable`, with typographic minus and comparison signs, and code between backticks."""
    parts = BACKTICKS.split(str(value))
    return "".join(rf"\texttt{{{code(part)}}}" if index % 2 else _prose(part) for index, part in enumerate(parts))


def _prose(value: str) -> str:
    text = re.sub(r"(?<![\w.)}-])-(?=\d)", r"\\textminus{}", breakable(value))
    for plain, sign in ((r"\textgreater{}= ", r"\geq"), (r"\textless{}= ", r"\leq")):
        text = text.replace(plain, rf"\ensuremath{{{sign}}} ")
    return text


def code(value: Any) -> str:
    """A line of code for a typewriter font, without ligatures and with unchanged characters."""
    text = str(value).lstrip(" ")
    indent = "\\ " * (len(str(value)) - len(text))
    parts = re.split(r"([\w./]+(?:-[\w./]+)*)", text)  # words are at odd indices
    return indent + "".join(breakable(part) if index % 2 else _signs(part) for index, part in enumerate(parts))


def _signs(text: str) -> str:
    return "".join("\\penalty0\\ " if sign == " " else _CODE.get(sign) or latex(sign) for sign in text)


def number(text: str) -> str:
    """A cell of an siunitx column: anything but a number is in braces, so that it is set as text."""
    return text if re.fullmatch(r"-?\d+(\.\d+)?", text) else f"{{{text}}}"


def _broken(word: str) -> str:
    """The word in breakable portions: three characters, or one that is written as its code point.

    Breaks after punctuation are preferred.
    """
    portions = re.findall(r"(?:(?![-_/.:,;=+])[\x21-\x7e\xa1-\xff]){1,3}[-_/.:,;=+]?|.", word, flags=re.S)
    breaks = ["\\penalty0{}" if portion[-1] in "-_/.:,;=+" else "\\penalty500{}" for portion in portions[:-1]]
    return "".join(latex(portion) + place for portion, place in zip(portions, [*breaks, ""], strict=True))


def template_environment(directory: Path, suffix: str) -> jinja2.Environment:
    """Jinja for templates with this suffix."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(directory),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=suffix == ".html",
        finalize=None if suffix == ".tex" else _shown,
        **(_TEX if suffix == ".tex" else {}),
    )
    filters = (latex, breakable, counted, prose, with_code, code, number, wrap, source_hash, with_terms, markdown)
    environment.filters |= {function.__name__: function for function in filters}
    environment.filters |= {"yaml": to_yaml, "rule": underline}
    return environment


def _shown(value: Any) -> Any:
    """A value with visible control characters; for LaTeX, `latex` does this."""
    if isinstance(value, Markup):
        return Markup(visible(value))
    return visible(value) if isinstance(value, str) else value


def wrap(text: Any, first: str = "", rest: str = "", width: int = 80) -> str:
    """Text wrapped to a width, with the indentation of its first and its other lines."""
    return filled(" ".join(str(text).split()), width, initial_indent=first, subsequent_indent=rest)


def to_yaml(patch: Any, indent: int = 0) -> str:
    """A config patch as YAML."""
    return textwrap.indent(yaml.safe_dump(patch, sort_keys=False).rstrip(), " " * indent)


def underline(title: str, character: str = "-") -> str:
    """A title underlined with a line of its length."""
    return f"{title}\n{character * len(title)}"
