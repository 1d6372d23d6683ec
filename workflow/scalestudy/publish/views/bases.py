"""Notes on rows that differ from their baseline in more than the number of ranks."""

from typing import Any

from scalestudy.publish.words.phrases import Phrase
from scalestudy.publish.words.points import other_work
from scalestudy.study.config.variants import unlike_the_base
from scalestudy.study.plan import Plan


def add_base_notes(rows: list[dict[str, Any]], plan: Plan) -> None:
    """Add a note to every row of rows_view that reads, logs or writes checkpoints unlike its baseline."""
    variants = plan.study.variants
    for row in rows:
        base = variants[plan.study.base_of(row["variant"])]
        if unlike := list(unlike_the_base(variants[row["variant"]], base)):
            row["notes"].append(Phrase(other_work(unlike)))
