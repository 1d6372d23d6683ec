"""Safe runs of LaTeX: in a separate folder, without a shell, and without access to files outside it."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.launch.family import end_with_parent
from scalestudy.record.files import write_bytes

# Required programs and files, each with its Debian package.
PROGRAMS = {"latexmk": "latexmk", "pdflatex": "texlive-latex-base"}
FILES = {
    "lmodern.sty": "lmodern",
    "geometry.sty": "texlive-latex-base",
    "array.sty": "texlive-latex-base",
    "multicol.sty": "texlive-latex-base",
    "graphicx.sty": "texlive-latex-base",
    "hyperref.sty": "texlive-latex-base",
    "booktabs.sty": "texlive-latex-recommended",
    "etoolbox.sty": "texlive-latex-recommended",
    "microtype.sty": "texlive-latex-recommended",
    "siunitx.sty": "texlive-science",
}
COMMAND = (
    "latexmk",
    "-norc",  # a settings file is a Perl program
    "-pdf",
    "-pdflatex=pdflatex -no-shell-escape %O %S",
    "-interaction=nonstopmode",
    "-halt-on-error",
    "-file-line-error",
    "-silent",
)
# Nothing above the folder is read or written; log lines are not broken; equal data give equal bytes.
SETTINGS = {"openin_any": "p", "openout_any": "p", "max_print_line": "1000", "SOURCE_DATE_EPOCH": "0"}
TIME_LIMIT_S = 600


@dataclass(frozen=True)
class Typeset:
    """A document typeset by LaTeX."""

    pdf: bytes
    pages: int


def missing_tex() -> str:
    """'' if nothing is missing; otherwise a line: what is missing, and how to install it on Debian and Ubuntu."""
    missing = {name: package for name, package in PROGRAMS.items() if shutil.which(name) is None}
    if "pdflatex" not in missing and shutil.which("kpsewhich"):
        found = subprocess.run(["kpsewhich", *FILES], capture_output=True, text=True, check=False).stdout
        there = {Path(line).name for line in found.splitlines()}
        missing |= {name: package for name, package in FILES.items() if name not in there}
    packages = dict.fromkeys([*missing.values(), *(FILES.values() if "pdflatex" in missing else ())])
    if not missing:
        return ""
    verb = "is" if len(missing) == 1 else "are"
    return f"{', '.join(missing)} {verb} missing; on Debian and Ubuntu: apt-get install {' '.join(packages)}"


def typeset(source: Path, *, log: Path) -> Typeset:
    """Typeset a document and write LaTeX's log to `log`, also on failure.

    Raises UserError if something is missing, or if LaTeX fails: with the path of the log and its first error.
    """
    if not source.is_file():
        raise UserError(f"{source}: missing; `scalestudy stage documents` writes it")
    if missing := missing_tex():
        raise UserError(missing)
    with tempfile.TemporaryDirectory(prefix="scalestudy-tex-") as name:
        folder = Path(name)
        for path in source.parent.resolve().iterdir():
            if path.is_dir() or path.suffix == ".tex":
                _refuse_links(path)
                (folder / path.name).symlink_to(path)
        status = _run(folder, source.name)
        written = folder / f"{source.stem}.log"
        text = written.read_bytes() if written.exists() else (folder / "latexmk.out").read_bytes()
        write_bytes(log, text)
        lines = text.decode("utf-8", errors="replace").splitlines()
        pdf = folder / f"{source.stem}.pdf"
        if status or not pdf.exists():
            raise UserError(f"{log}: LaTeX made no PDF of {source}: {_first_error(lines, status)}")
        return Typeset(pdf=pdf.read_bytes(), pages=_pages(lines))


def _refuse_links(path: Path) -> None:
    """Raise UserError if a .tex file, or a file directly in a folder beside it, links to a file outside.

    LaTeX would print the content of that file.
    """
    for file in [path, *(path.iterdir() if path.is_dir() else ())]:
        if file.is_symlink() and not file.resolve().is_relative_to(path.parent):
            raise UserError(f"{file}: is a link to a file outside its folder; replace it with the file itself")


def _run(folder: Path, name: str) -> int | None:
    """Exit status of latexmk; None if it was stopped at the time limit."""
    with (folder / "latexmk.out").open("wb") as output:
        process = subprocess.Popen(
            [*COMMAND, name],
            cwd=folder,
            env=os.environ | SETTINGS,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=partial(end_with_parent, signal.SIGKILL),
        )
        try:
            return process.wait(TIME_LIMIT_S)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                return None
            raise


def _first_error(lines: list[str], status: int | None) -> str:
    if status is None:
        return f"it was stopped after {TIME_LIMIT_S} s"
    errors = [line for line in lines if re.match(r"\S+:\d+: |! ", line)]
    return errors[0] if errors else "the log has no error message"


def _pages(lines: list[str]) -> int:
    found = re.findall(r"^Output written on .* \((\d+) pages?,", "\n".join(lines), flags=re.M)
    return int(found[-1]) if found else 0
