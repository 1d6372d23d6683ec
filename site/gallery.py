"""The gallery: complete reports of ready studies, measured on this machine and shown on the site.

    python site/gallery.py [STUDY.yaml [CHANGES.yaml...]]

Runs a study, or continues it, and copies its report to build/extra/gallery/STUDY/. The next build of the site
lists all reports that are there. `make gallery` does both. Without arguments it runs STUDIES, which need two CPU
cores, and compares the studies of COMPARED.
"""

import html
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import audited
import yaml

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/extra/gallery"
ADDRESS = "../../gallery"
"""FOLDER as the page of the gallery links to it."""
DIGITS = "config/studies/digits.yaml"
STUDIES = (
    (DIGITS,),
    (DIGITS, "site/studies/glibc_defaults.yaml"),
    *(
        (f"config/studies/{name}.yaml", f"config/studies/cpu-small/{name}.yaml")
        for name in ("ddp_vs_fsdp", "mlp_batch_sweep", "llm_finetune")
    ),
)
"""Studies, each with the files that override its keys. None of them downloads data."""
COMPARED = ("digits", "digits-glibc")
"""Two of these studies that train the same models, the second one without the settings of glibc."""
LIMIT = "step_time > +3%"
"""What the gate of the comparison does not accept."""
FILES = {
    "report.html": "report",
    "report.pdf": "report as PDF",
    "proposal.pdf": "proposal",
    "performance_report.txt": "text report",
    "numbers.json": "all numbers",
}
"""What is copied of a study, where it exists, and the name of its link."""
SHOWN_OF_HOST = ("device of the ranks", "processor", "CPUs available to a run")
COMPARISON_FILES = {
    "comparison.txt": "text",
    "comparison.csv": "all points",
    "comparison.json": "all numbers",
    "comparison.tex": "LaTeX table",
}
INTRODUCTION = """\
# Gallery

Complete documents, as scalestudy writes them. `make gallery` runs the studies and adds their reports to this page;
`python site/gallery.py STUDY.yaml` adds the report of another study.
"""
STUDIES_TEXT = """\
## Reports of studies

Ready studies, scaled down for two CPU cores. In a report, click a number to see the runs behind it.
"""
COMPARISON_TEXT = """\
## Comparison of two studies

Both studies train the same models on the same machine. `{second}` has the default settings of glibc, which returns
freed memory to the kernel at every step. [compare.md](../compare.md) explains the numbers.
"""
GATE_TEXT = """\
The same two studies as a gate ([guard.md](../guard.md)): the exit status is the answer, for scripts.
"""


def main(files: list[str]) -> int:
    """Run the studies and collect their documents. Return 1 if one of them is missing or has failed runs."""
    ended = [add(study) for study in ([tuple(files)] if files else STUDIES)]
    if not files:
        ended.append(compare(*(ROOT / "results" / name for name in COMPARED), FOLDER / "comparison"))
    return 0 if all(ended) else 1


def add(study: tuple[str, ...]) -> bool:
    """Run a study and collect its report. Return whether it has one and no run failed."""
    begin = time.monotonic()
    status = subprocess.run(["scalestudy", "run", "--study", *study], cwd=ROOT).returncode
    if status > 1:  # 1: some runs failed, which the report shows
        print(f"{' '.join(study)}: not measured; the study is left out of the gallery", file=sys.stderr)
        return False
    name = name_of(study)
    collected = collect(ROOT / "results" / name, FOLDER / name)
    print(f"{name}: {time.monotonic() - begin:.0f} s")
    return collected and status == 0


def name_of(files: tuple[str, ...]) -> str:
    """Return the name of a study: the last one that its files give."""
    names = [yaml.safe_load((ROOT / file).read_text(encoding="utf-8")).get("study") for file in files]
    return [name for name in names if name][-1]


def collect(results: Path, folder: Path) -> bool:
    """Copy the report of a study, and write what it says in short. Return whether the study has a report."""
    if not (results / "report.html").exists():
        print(f"{results}: no report.html; the study is left out of the gallery", file=sys.stderr)
        return False
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        if (results / name).exists():
            shutil.copy(results / name, folder / name)
    write(folder / "about.json", json.dumps(about(results), indent=2))
    return True


def about(results: Path) -> dict[str, Any]:
    """Return what the page says of a study, in the words of its report: its question, host and answers."""
    # Each build of the site imports this module, and only a few need these.
    from scalestudy.cli.results.inputs import documented
    from scalestudy.publish.views.facts import document_facts

    facts = document_facts(*documented(results))
    host = [f"{name}: {value}" for name, value in facts["hardware"] if name in SHOWN_OF_HOST]
    ends = ", ".join(f"{count} {outcome}" for outcome, count in facts["outcomes"])
    return {
        "description": facts["study"]["description"],
        "measured": f"{facts['counted_runs']} ({ends}); {', '.join(host)}. {facts['spoiled']}".strip(),
        "answers": [(one.said, one.meaning, one.action, one.compared) for one in facts["answers"]],
    }


def compare(first: Path, second: Path, folder: Path) -> bool:
    """Compare two studies, as documents and as a gate. Return whether they could be compared."""
    shutil.rmtree(folder, ignore_errors=True)
    studies = [path.relative_to(path.parent.parent) for path in (first, second)]
    ended = run("compare", *studies, "--out", folder, cwd=first.parent.parent)
    gate = run("compare", *studies, "--fail-if", LIMIT, cwd=first.parent.parent)
    if ended.returncode or gate.returncode == 2:
        shutil.rmtree(folder, ignore_errors=True)
        print("the comparison is left out of the gallery", file=sys.stderr)
        return False
    command = f"scalestudy compare {studies[0]} {studies[1]} --fail-if '{LIMIT}'"
    write(folder / "gate.txt", f"$ {command}\n{gate.stdout.rstrip()}\n$ echo $?\n{gate.returncode}")
    return True


def run(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of scalestudy and return what it printed."""
    return subprocess.run(["scalestudy", *arguments], cwd=cwd, stdout=subprocess.PIPE, text=True)


def write(path: Path, text: str) -> None:
    """Write a text that ends with a line break."""
    path.write_text(text.rstrip() + "\n", encoding="utf-8")


def text(folder: Path = FOLDER) -> str:
    """Return the page of the gallery, as Markdown: studies with their verdicts, a comparison, an audit."""
    parts = [INTRODUCTION]
    studies = sorted((path.parent for path in folder.glob("*/about.json")), key=place)
    if studies:
        parts += [STUDIES_TEXT, *map(study_section, studies)]
    if (folder / "comparison/gate.txt").exists():
        parts.append(comparison_section(folder / "comparison"))
    return "\n".join([*parts, audited.section()])


def place(folder: Path) -> tuple[int, str]:
    """Return the place of a study on the page: in the order of STUDIES, and others after them by name."""
    names = [name_of(files) for files in STUDIES]
    return (names.index(folder.name) if folder.name in names else len(names), folder.name)


def study_section(folder: Path) -> str:
    """Return a study: what it is, its answer for each workload, where it was measured, and its files."""
    told = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    description, measured = (escaped(told[name]) for name in ("description", "measured"))
    texts = [description, *(answer(*parts) for parts in told["answers"]), measured]
    paragraphs = "\n\n".join(f"<p>{text}</p>" for text in texts if text)
    return f"### {folder.name}\n\n{paragraphs}\n\n{links(folder, FILES)}\n"


def answer(said: str, meaning: str, *others: str) -> str:
    """Return the answer about a workload, as the report prints it: the first sentence is in bold."""
    first = f"<strong>{escaped(said)}</strong> {escaped(meaning)}".rstrip()
    return "<br>".join(filter(None, (first, *map(escaped, others))))


def escaped(text: str | None) -> str:
    """Return a text as HTML."""
    return html.escape(text or "", quote=False)


def comparison_section(folder: Path) -> str:
    """Return the comparison: its summary, its figures, its files, and the answer of the gate."""
    summary = json.loads((folder / "comparison.json").read_text(encoding="utf-8"))["summary"]
    parts = (
        COMPARISON_TEXT.format(second=COMPARED[1]).rstrip(),
        *(f"<p>{escaped(sentence)}</p>" for sentence in summary),
        "\n".join(image(path) for path in sorted(folder.glob("figures/*.svg"))),
        links(folder, COMPARISON_FILES),
        GATE_TEXT.rstrip(),
        f"```text\n{(folder / 'gate.txt').read_text(encoding='utf-8')}```\n",
    )
    return "\n\n".join(parts)


def image(figure: Path) -> str:
    """Return the element that shows a figure of the comparison, with its description as alternative text."""
    described = " ".join(figure.with_suffix(".txt").read_text(encoding="utf-8").split())
    source = html.escape(f"{ADDRESS}/{figure.parent.parent.name}/figures/{figure.name}")
    return f'<img src="{source}" alt="{html.escape(described)}">'


def links(folder: Path, files: dict[str, str]) -> str:
    """Return links to those files that exist."""
    return ", ".join(
        f'<a href="{ADDRESS}/{folder.name}/{html.escape(file)}">{title}</a>'
        for file, title in files.items()
        if (folder / file).exists()
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
