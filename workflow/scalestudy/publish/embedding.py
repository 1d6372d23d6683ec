"""Figures embedded in the page: the same picture as the SVG file, in a fraction of its size.

matplotlib writes six decimals, and a style and clip for every line and marker: a page with seventy figures would
have 9 MB. Here coordinates are rounded to 0.1 pt, repeated styles are written once, and markers on a line become
markers of the line. Anything that differs from matplotlib's present output is left unchanged.
"""

import re
from collections.abc import Iterable
from urllib.parse import quote

from markupsafe import Markup

KEPT = "/:;,()!@$*+?=-._~{} '<>"
"""Characters that a data URI keeps; not `&` or the attribute's quotation mark, which have a meaning in HTML."""

DECIMALS = 1
"""Decimals of coordinates in pt. At three times the size on paper, the error is at most 0.2 pixels."""
GLYPH_GRID = 32
"""Grid of the outlines of letters, in 1/6400 em: 0.04 pt in text of 8 pt."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_COMMAND = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_NUMBERS = {"M": 2, "L": 2, "Q": 4, "C": 6}  # per command
_USES = r'(?:<use href="#[\w.-]+" x="[\d.-]+" y="[\d.-]+"/>)+'


def data_uri(svg: str) -> Markup:
    """An SVG by matplotlib as the value of an attribute in quotation marks."""
    small = compact(svg)
    small = small if "'" in small else small.replace('"', "'")
    return Markup("data:image/svg+xml," + quote(small, safe=KEPT))


def compact(svg: str) -> str:
    """The same picture in fewer characters."""
    svg = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r"\s*\n\s*", " ", svg).replace("> <", "><").strip()
    svg = svg.replace("xlink:href", "href").replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    svg = _without_bare_groups(_without_idle_ids(svg))
    svg = _classes_of_groups(_styles_as_classes(svg))
    svg = _markers_of_lines(svg)
    svg = _coarser_glyphs(svg)
    svg = re.sub(r'(?<= d=")[^"]*', lambda match: relative_path(match[0]), svg)
    svg = re.sub(r'(?<= [xy]=")[\d.e-]+', _rounded, svg)
    svg = re.sub(r"translate\([^)]*\)", lambda match: _NUMBER.sub(_rounded, match[0]), svg)
    svg = re.sub(r'(<use [^>]*?) transform="translate\((\S+) 0\)"/>', _placed, svg)
    return _short_names(svg)


def relative_path(text: str) -> str:
    """The path with coordinates relative to the pen, rounded; a repeated command is named once."""
    made, last, pen, start = "", "", [0.0, 0.0], [0.0, 0.0]
    for name, arguments in _COMMAND.findall(text):
        if name in "zZ":
            made, last, pen = made + "z", "", start
            continue
        numbers = [round(float(number), DECIMALS) for number in _NUMBER.findall(arguments)]
        size = _NUMBERS.get(name, 0)
        if not size or len(numbers) != size:
            return text
        steps = [_short(number - pen[index % 2]) for index, number in enumerate(numbers)]
        if name.lower() != last:
            made += name.lower()
        elif not steps[0].startswith("-"):
            made += " "
        made += " ".join(steps).replace(" -", "-")
        pen = numbers[-2:]
        # After a move, line commands need no name.
        last, start = ("l", pen) if name == "M" else (name.lower(), start)
    return made


def _placed(match: re.Match[str]) -> str:
    """A letter with its shift along the line as `x`, in whole 1/100 em."""
    return f'{match[1]} x="{float(match[2]):.0f}"/>'


def _rounded(match: re.Match[str]) -> str:
    return _short(float(match[0]))


def _short(number: float) -> str:
    text = f"{number:.{DECIMALS}f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _without_idle_ids(svg: str) -> str:
    """Remove ids that nothing refers to."""
    used = set(re.findall(r'(?:href="|url\()#([\w.-]+)', svg))
    return re.sub(r' id="([^"]*)"', lambda match: match[0] if match[1] in used else "", svg)


def _without_bare_groups(svg: str) -> str:
    """Remove groups without attributes and keep their content."""
    parts: list[str] = []
    bare: list[bool] = []
    for index, part in enumerate(re.split(r"(<g>|<g [^>]*[^/]>|</g>)", svg.replace("<g/>", ""))):
        # What is between two tags can begin with an empty group, `<g clip-path="..."/>`, which has no end.
        if index % 2 and part != "</g>":
            bare.append(part == "<g>")
        of_bare = bare.pop() if part == "</g>" else part == "<g>"
        parts += [] if of_bare else [part]
    return "".join(parts)


def _styles_as_classes(svg: str) -> str:
    """Write each style, with its clip, once as a class."""
    classes: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        clip = f"clip-path:{match[1]};" if match[1] else ""
        style = clip + match[2].replace("; ", ";").replace(": ", ":")
        return f' class="{classes.setdefault(style, _name(len(classes)))}"'

    svg = re.sub(r'(?: clip-path="([^"]*)")? style="([^"]*)"', named, svg)
    return _with_rules(svg, (f".{name}{{{style}}}" for style, name in classes.items()))


def _classes_of_groups(svg: str) -> str:
    """Let markers of one class inherit it from their group."""

    def moved(match: re.Match[str]) -> str:
        return f'<g{match[1]} class="{match[3]}">' + match[2].replace(f' class="{match[3]}"', "") + "</g>"

    one = r'<use href="#[\w.-]+" x="[\d.-]+" y="[\d.-]+" class="'
    return re.sub(rf'<g((?: clip-path="[^"]*")?)>({one}(\w+)"/>(?:{one}\3"/>)*)</g>', moved, svg)


def _markers_of_lines(svg: str) -> str:
    """Let a line draw its markers where they are exactly at its corners."""
    classes: dict[tuple[str, str, str], str] = {}

    def one(match: re.Match[str]) -> str:
        path, line, shape_path, marker_class, uses = match.groups()
        shapes = set(re.findall(r'href="#([\w.-]+)"', uses))
        places = re.findall(r' [xy]="([\d.-]+)"', uses)
        if len(shapes) > 1 or re.search(r"[^ML\d\s.-]", path) or _NUMBER.findall(path) != places:
            return match[0]
        key = (line, marker_class, shapes.pop())
        return f'{shape_path}<path d="{path}" class="{classes.setdefault(key, f"{line}-{len(classes)}")}"/>'

    defs = r"((?:<defs><path [^>]*/></defs>)?)"  # the definition of a marker on its first use
    line = rf'<path d="([^"]*)" class="(\w+)"/>{defs}<g(?: clip-path="[^"]*")? class="(\w+)">({_USES})</g>'
    svg = re.sub(line, one, svg)
    rules, markers = [], []
    for (of_line, of_marker, shape), name in classes.items():
        style = re.search(rf"\.{of_line}{{([^}}]*)}}", svg)
        assert style is not None, "a class without a rule"
        rules.append(f".{name}{{{style[1]};marker:url(#of-{name})}}")
        shared = f'<marker id="of-{name}" markerUnits="userSpaceOnUse" overflow="visible" class="{of_marker}">'
        markers.append(f'{shared}<use href="#{shape}"/></marker>')
    svg = _with_rules(svg, rules)
    return svg.replace("</defs>", "".join(markers) + "</defs>", 1)


def _coarser_glyphs(svg: str) -> str:
    """Round the outlines of letters to a grid that becomes visible at fifty times their size."""

    def coarser(match: re.Match[str]) -> str:
        outline = _NUMBER.sub(lambda number: f"{float(number[0]) / GLYPH_GRID:.0f}", match[2])
        return f'{match[1]}{outline}" transform="scale({GLYPH_GRID / 64:g})"/>'

    return re.sub(r'(<path id="[^"]*" d=")([^"]*)" transform="scale\(0\.015625\)"/>', coarser, svg)


def _short_names(svg: str) -> str:
    """Shorten ids to a letter and a number."""
    ids = {name: _name(index) for index, name in enumerate(re.findall(r' id="([^"]*)"', svg))}
    svg = re.sub(r' id="([^"]*)"', lambda match: f' id="{ids[match[1]]}"', svg)
    return re.sub(r'(href="|url\()#([\w.-]+)', lambda match: f"{match[1]}#{ids.get(match[2], match[2])}", svg)


def _with_rules(svg: str, rules: Iterable[str]) -> str:
    return svg.replace("</style>", "".join(rules) + "</style>", 1)


def _name(index: int) -> str:
    return "abcdefghijklmnopqrstuvwxyz"[index % 26] + (str(index // 26) if index >= 26 else "")
