"""The cast: a command on a real terminal, recorded, and written as an animated SVG without scripts.

    python site/cast.py [--svg FILE] [--folder FOLDER] [COMMAND]

Types the command into bash on a pseudo-terminal of 80 x 25 characters, in an empty folder, and records what is
printed until the prompt is back. With --folder the results are kept, so that `site/samples.py` can read them.
Without a command it records the default study, which takes a few minutes on two cores. Waiting is shortened so
that the picture plays for at most LONGEST_S. It plays PLAYS times and stops at the last screen. Readers who prefer
reduced motion see only the last screen.
"""

import argparse
import codecs
import contextlib
import fcntl
import html
import os
import pty
import re
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import pyte

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "scalestudy run --study config/studies/digits.yaml"
SVG = ROOT / "docs/images/run.svg"
COLUMNS, ROWS = 80, 25
PROMPT = "$ "
KEY_S, SHORTEST_S, LONGEST_S, HOLD_S = 0.04, 0.1, 20.0, 5.0
"""Seconds: between typed keys, of the shortest frame, of all frames, and of the last screen before a replay."""
PLAYS = 3
LARGEST = 200_000
"""Bytes of the largest picture."""

CELL, LINE, MARGIN, SIZE = 8.4, 19, 14, 14
"""Width of a character, height of a line, margin and font size, in pixels."""
BACK, FORE = "#1b1f24", "#e6e6e6"
COLOURS = {
    **{"black": "#8b949e", "red": "#ff8a80", "green": "#7ee787", "brown": "#f2cc60", "blue": "#79c0ff"},
    **{"magenta": "#d2a8ff", "cyan": "#76e3ea", "white": FORE, "default": FORE},
}
"""Colours of a terminal, each with a contrast of at least 4.5 to the background."""


class Printed(NamedTuple):
    """What a terminal received, and when, in seconds since the start."""

    at_s: float
    text: str


class Run(NamedTuple):
    """Characters of a line that have one style. first: column of the first character."""

    first: int
    text: str
    colour: str
    bold: bool


Line = tuple[Run, ...]
Screen = tuple[Line, ...]


class Frame(NamedTuple):
    """A screen, and the time at which it appears."""

    at_s: float
    screen: Screen


def record(command: str, folder: Path) -> list[Printed]:
    """Type a command into a shell on a terminal, and return what is printed until the prompt is back."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ |= {"TERM": "xterm-256color", "PS1": PROMPT}
        for name in ("COLUMNS", "LINES", "PROMPT_COMMAND", "CI", "NO_COLOR"):
            os.environ.pop(name, None)
        os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    screen = pyte.Screen(COLUMNS, ROWS)
    stream, decoder = pyte.Stream(screen), codecs.getincrementaldecoder("utf-8")("replace")
    begin, found = time.monotonic(), []

    def read() -> None:
        text = decoder.decode(os.read(terminal, 65536))
        stream.feed(text)
        found.append(Printed(time.monotonic() - begin, text))

    def read_to_prompt() -> None:
        read()
        while (screen.cursor.x, screen.display[screen.cursor.y].rstrip()) != (len(PROMPT), PROMPT.rstrip()):
            read()

    read_to_prompt()
    for key in command:
        os.write(terminal, key.encode())
        time.sleep(KEY_S)
        read()
    os.write(terminal, b"\r")
    read_to_prompt()
    os.close(terminal)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
    return found


def renamed(printed: Sequence[Printed], names: dict[str, str]) -> list[Printed]:
    """Replace paths of this machine, also where a path was printed in several pieces."""
    joined = "\0".join(one.text for one in printed)
    for path, name in names.items():
        pattern = re.compile("\0?".join(map(re.escape, path)))
        joined = pattern.sub(lambda found, name=name: name + "\0" * found[0].count("\0"), joined)
    return [one._replace(text=text) for one, text in zip(printed, joined.split("\0"), strict=True)]


def frames(printed: Sequence[Printed], shortest_s: float = SHORTEST_S) -> list[Frame]:
    """Return the screens one after another. Long waits are shortened to one length, so that all fits LONGEST_S.

    A screen that would be shown for less than shortest_s is replaced by the next one.
    """
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.Stream(screen)
    gaps = [after.at_s - before.at_s for before, after in pairwise(printed)]
    longest_gap, found, now = _longest_gap(gaps), [], 0.0
    for one, gap in zip(printed, [0.0, *gaps], strict=True):
        stream.feed(one.text)
        now += min(gap, longest_gap)
        frame = Frame(now, tuple(_line(screen, row) for row in range(ROWS)))
        if found and frame.screen == found[-1].screen:
            continue
        if found and now - found[-1].at_s < shortest_s:
            frame = frame._replace(at_s=found.pop().at_s)
        found.append(frame)
    return found


def _longest_gap(gaps: Sequence[float]) -> float:
    """Return the wait to which longer ones are shortened."""
    low, high = 0.0, max(gaps, default=0.0)
    if sum(gaps) <= LONGEST_S:
        return high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(min(gap, middle) for gap in gaps) <= LONGEST_S else (low, middle)
    return low


def _line(screen: pyte.Screen, row: int) -> Line:
    cells = [screen.buffer[row][column] for column in range(COLUMNS)]
    runs = []
    for (colour, bold), group in groupby(enumerate(cells), lambda cell: (cell[1].fg, cell[1].bold)):
        members = list(group)
        text = "".join(cell.data for _, cell in members)
        if blanks := len(text) - len(text.lstrip()):
            members, text = members[blanks:], text.lstrip()
        if text.strip():
            runs.append(Run(members[0][0], text.rstrip(), COLOURS.get(colour, f"#{colour}"), bold))
    return tuple(runs)


def text_of(screen: Screen) -> list[str]:
    """Return the lines of a screen as text, without empty lines at its end."""
    lines = []
    for line in screen:
        text = ""
        for run in line:
            text = text.ljust(run.first) + run.text
        lines.append(text)
    return "\n".join(lines).rstrip("\n").split("\n")


def svg(shown: Sequence[Frame], title: str) -> str:
    """Return the picture. Its frames are one below the other, and an animation moves one at a time into view.

    A line that occurs in several frames is stored once.
    """
    names: dict[Line, str] = {}
    strips = []
    rows = max(len(text_of(frame.screen)) for frame in shown)
    height = rows * LINE
    for index, frame in enumerate(shown):
        uses = "".join(
            f'<use href="#{names.setdefault(line, f"l{len(names)}")}" y="{row * LINE}"/>'
            for row, line in enumerate(frame.screen)
            if line
        )
        strips.append(f'<g transform="translate(0 {index * height})">{uses}</g>')
    whole_s = shown[-1].at_s + HOLD_S
    steps = "".join(
        f"{100 * frame.at_s / whole_s:.2f}%{{transform:translateY({-index * height}px)}}"
        for index, frame in enumerate(shown)
    )
    last = -(len(shown) - 1) * height
    width, tall = COLUMNS * CELL, height + 2 * MARGIN
    size = f'width="{width + 2 * MARGIN:g}" height="{tall}"'
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width + 2 * MARGIN:g} {tall}"
 role="img" aria-labelledby="title description">
<title id="title">{html.escape(title)}</title>
<desc id="description">A terminal of {COLUMNS} x {ROWS} characters. Its last screen reads:
{html.escape(chr(10).join(text_of(shown[-1].screen)))}</desc>
<style>
text{{font:{SIZE}px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:{FORE};white-space:pre}}
#frames{{transform:translateY({last}px);animation:play {whole_s:.2f}s step-end {PLAYS}}}
@keyframes play{{{steps}to{{transform:translateY({last}px)}}}}
@media (prefers-reduced-motion:reduce){{#frames{{animation:none}}}}
</style>
<defs>
{chr(10).join(_stored(line, name) for line, name in names.items())}
</defs>
<rect width="100%" height="100%" rx="8" fill="{BACK}"/>
<svg x="{MARGIN}" y="{MARGIN}" width="{width:g}" height="{height}"><g id="frames">
{chr(10).join(strips)}
</g></svg>
</svg>
"""


def _stored(line: Line, name: str) -> str:
    """Return the definition of a line. The length of each text is set, so that columns align in every font."""
    return f'<g id="{name}">{"".join(_text(run) for run in line)}</g>'


def _text(run: Run) -> str:
    colour = f' style="fill:{run.colour}"' if run.colour != FORE else ""
    weight = ' font-weight="bold"' if run.bold else ""
    at = f'x="{run.first * CELL:g}" y="{SIZE}" textLength="{len(run.text) * CELL:g}"'
    return f'<text {at} lengthAdjust="spacingAndGlyphs"{weight}{colour}>{html.escape(run.text)}</text>'


def main(arguments: Sequence[str]) -> int:
    """Record a command and write its picture, with fewer frames if it would be too large."""
    parser = argparse.ArgumentParser(description="Record a command on a terminal as an animated SVG.")
    parser.add_argument("--svg", type=Path, default=SVG)
    parser.add_argument("--folder", type=Path, help="An empty folder in which the results stay.")
    parser.add_argument("command", nargs="?", default=COMMAND)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="study-") as temporary:
        folder = (given.folder or Path(temporary)).resolve()
        names = {str(folder): "~/study", str(ROOT): "~/scalestudy", str(Path.home()): "~"}
        printed = renamed(record(given.command, folder), names)
    shortest_s = SHORTEST_S
    while True:
        shown = frames(printed, shortest_s)
        written = svg(shown, f"Terminal: {given.command}")
        if len(written.encode()) <= LARGEST or len(shown) == 1:
            break
        shortest_s *= 1.25
    given.svg.write_text(written, encoding="utf-8")
    print(f"{given.svg}: {len(written.encode())} bytes, {len(shown)} frames, {shown[-1].at_s:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
