"""The gallery: complete reports of ready studies, measured on this machine and shown on the site.

    python site/gallery.py [STUDY.yaml [CHANGES.yaml...]]

Runs a study, or continues it, and copies its report to build/extra/gallery/STUDY/. The next build of the site
lists all reports that are there. `make gallery` does both. Without arguments it runs STUDIES, which need two CPU
cores.
"""

import html
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import audited
import yaml

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/extra/gallery"
STUDIES = (
    ("config/studies/digits.yaml",),
    ("config/studies/ddp_vs_fsdp.yaml", "config/studies/cpu-small/ddp_vs_fsdp.yaml"),
)
"""Studies, each with the files that override its keys."""
FILES = {
    "report.html": "report",
    "report.pdf": "report as PDF",
    "proposal.pdf": "proposal",
    "performance_report.txt": "text report",
    "numbers.json": "all numbers",
}
"""What is copied of a study, where it exists, and the name of its link."""
INTRODUCTION = """\
# Gallery

Complete reports of ready studies, and an audit. `make gallery` runs the studies and adds their reports to this page;
`python site/gallery.py STUDY.yaml` adds the report of another study. In a report, click a number to see the
runs behind it.
"""


def main(files: list[str]) -> int:
    """Run the studies and collect their reports. Return 1 if a study could not be run."""
    ended = []
    for study in [tuple(files)] if files else STUDIES:
        done = subprocess.run(["scalestudy", "run", "--study", *study], cwd=ROOT)
        names = [yaml.safe_load((ROOT / file).read_text(encoding="utf-8")).get("study") for file in study]
        name = [one for one in names if one][-1]
        ended.append(done.returncode == 0 and collect(ROOT / "results" / name, FOLDER / name))
    return 0 if all(ended) else 1


def collect(results: Path, folder: Path) -> bool:
    """Copy the report of a study and its summary. Return whether the study has a report."""
    if not (results / "report.html").exists():
        print(f"{results}: no report.html; the study is left out of the gallery", file=sys.stderr)
        return False
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        if (results / name).exists():
            shutil.copy(results / name, folder / name)
    said = subprocess.run(
        ["scalestudy", "summary", "--results", results], stdout=subprocess.PIPE, text=True
    ).stdout
    verdicts = [line for line in said.splitlines() if not line.strip().startswith(str(results))]
    wrapped = [textwrap.fill(line, 88, subsequent_indent=" " * 6) for line in verdicts]
    (folder / "summary.txt").write_text("\n".join(wrapped) + "\n", encoding="utf-8")
    return True


def text(folder: Path = FOLDER) -> str:
    """Return the page of the gallery, as Markdown: the verdicts of each study, with links to its files; an audit."""
    parts = [INTRODUCTION]
    for summary in sorted(folder.glob("*/summary.txt")):
        name = summary.parent.name
        links = [
            f'<a href="../../gallery/{name}/{html.escape(file)}">{title}</a>'
            for file, title in FILES.items()
            if (summary.parent / file).exists()
        ]
        verdicts = summary.read_text(encoding="utf-8").rstrip()
        parts.append(f"## {name}\n\n{', '.join(links)}\n\n```text\n{verdicts}\n```\n")
    return "\n".join([*parts, audited.section()])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
