"""The samples of README.md: the figure, answer, summary and table of a finished study.

    python site/samples.py RESULTS

Copies the figure to docs/images/, and replaces each text in README.md between `<!-- sample: NAME -->` and
`<!-- end of sample -->`. So no number of the README is typed by hand. RESULTS is the results folder of the default
study.
"""

import contextlib
import io
import re
import shutil
import sys
import textwrap
from pathlib import Path

from scalestudy.cli.results.inputs import documented
from scalestudy.cli.verb.results import summarise
from scalestudy.publish.numbers.rounding import DASH
from scalestudy.publish.views.facts import document_facts

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
IMAGES = ROOT / "docs/images"
WORKLOAD = "digits-convnet"
FIGURE = f"{WORKLOAD}_speedup_efficiency"
"""The workload and the figure of the first screen."""
RECORDING = IMAGES / "run.svg"
RECORDED = (
    "Recording of a terminal: scalestudy run shows its progress, and then the verdicts that are listed below"
)
"""The picture of `site/cast.py`, which is shown if it exists, and its description."""
BLOCK = re.compile(r"(<!-- sample: (\w+) -->\n)(.*?)(<!-- end of sample -->)", flags=re.DOTALL)
COLUMNS = {
    "ranks": "ranks",
    "batch per rank": "batch_per_rank",
    "step time (ms)": "step_time_ms",
    "samples/s": "throughput_samples_per_s",
    "speedup": "speedup",
    "efficiency (%)": "efficiency_percent",
}
"""Columns of the table, and their names in numbers.json."""


def samples(results: Path) -> dict[str, str]:
    """Return the text of each sample, by its name in README.md."""
    facts = document_facts(*documented(results))
    said = dict(zip(facts["workloads"], map(_sentences, facts["answers"]), strict=True))
    return {
        "figure": f"![{_described(results)}](docs/images/{FIGURE}.svg)",
        "answer": f"> {said[WORKLOAD][0]}",
        "recording": f"![{RECORDED}](docs/images/{RECORDING.name})" if RECORDING.exists() else "",
        "summary": textwrap.indent(_summary(results), "    "),
        "answers": "\n".join(f"- {' '.join(sentences)}" for sentences in said.values()),
        "conditions": _conditions(facts),
        "table": _table(facts["rows"]),
    }


def _sentences(answer) -> list[str]:
    """Return the sentences about the speedup of a workload."""
    return re.split(r"(?<=\.) ", str(answer.said))


def _described(results: Path) -> str:
    return (results / f"figures/{FIGURE}.txt").read_text(encoding="utf-8").strip()


def _summary(results: Path) -> str:
    """Return what `scalestudy run` prints at its end, with paths as in the folder where it was called."""
    printed = io.StringIO()
    with contextlib.chdir(results.resolve().parent.parent), contextlib.redirect_stdout(printed):
        summarise(Path(*results.resolve().parts[-2:]))
    lines = printed.getvalue().splitlines()
    return "\n".join(textwrap.fill(line, 88, subsequent_indent=" " * 6, break_on_hyphens=False) for line in lines)


def _conditions(facts) -> str:
    """Return where the study ran and what its intervals are, in sentences."""
    hardware, environment, study = dict(facts["hardware"]), dict(facts["environment"]), facts["study"]
    where = f"{hardware['CPUs available to a run']} cores ({hardware['processor']}; "
    where += f"torch {environment['version of torch']}, {hardware['communication backend']}, "
    return "\n".join(
        textwrap.wrap(
            f"The default study on {where}{study['cores']} per rank). Numbers are geometric means over runs, with"
            f" {study['confidence']} confidence intervals in brackets. The baseline is {study['base']}.",
            140,
        )
    )


def _table(rows) -> str:
    """Return the measured points as a table in Markdown. Several scalings may have the same baseline."""
    lines = [["workload", "scaling", *COLUMNS], ["---"] * (2 + len(COLUMNS))]
    for row in rows:
        if row["is_base"] or row["has_speedup"]:
            scaling = "baseline" if row["is_base"] else row["scaling"]
            line = [row["workload"], scaling, *(str(row[name]) for name in COLUMNS.values())]
            lines += [line] if line not in lines else []
    return "\n".join(f"| {' | '.join(line)} |".replace(f" {DASH} ", " ") for line in lines)


def main(results: Path) -> int:
    """Write the figure and the samples. Return 1 if README.md has no place for one of them, or another one."""
    written = samples(results)
    text = README.read_text(encoding="utf-8")
    if sorted(name for _, name, _, _ in BLOCK.findall(text)) != sorted(written):
        print(f"{README}: needs a block `<!-- sample: NAME -->` for each of {', '.join(written)}", file=sys.stderr)
        return 1
    IMAGES.mkdir(exist_ok=True)
    shutil.copyfile(results / f"figures/{FIGURE}.svg", IMAGES / f"{FIGURE}.svg")
    README.write_text(
        BLOCK.sub(lambda found: f"{found[1]}{written[found[2]]}\n{found[4]}", text), encoding="utf-8"
    )
    print(f"{README}: {len(written)} samples of {results}")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
