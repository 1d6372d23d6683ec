"""Texts about what an imported run, or a run of a script, cannot show."""

from scalestudy.registry.codes import Limit
from scalestudy.registry.column import Row
from scalestudy.registry.words.points import counted

IMPORTED = {
    Limit.IMPORTED: "imported: no parts of a step, no single ranks and no load of the host are known",
    Limit.AVERAGED: "each time is a mean over several steps, so the spread of single steps is unknown",
    Limit.WHOLE_RUN: "the log has one mean over the whole run, its start and its evaluations included",
    Limit.PRINTED: "a number as printed in a table: how long the run was and what it includes is unknown",
    Limit.CLOCK: "step times are the times between lines of the log, with everything that happened in between",
    Limit.TOKENS: "work is counted in tokens: a sample of these columns is a token",
    Limit.ROUNDED: "the log prints times with three digits",
    Limit.BATCH_UNSEEN: "the batch is the study's and was not checked: the script has no DataLoader, and does not"
    " call rec.samples(); the numbers are wrong if it trains on another batch",
}


def limits(codes: object) -> str:
    """The limits of a row as one sentence; '' if there are none, or its table is older."""
    known = [IMPORTED[Limit(code)] for code in str(codes).split() if code in IMPORTED]
    return "; ".join(known)


def base_of_several(row: Row) -> str:
    """That a speedup is relative to several ranks, which no single process was compared with; else ''."""
    ranks = counted(row, "base_world_size")
    if ranks <= 1:
        return ""
    if row["is_base"]:
        counts = f"its {ranks} ranks count as a speedup of {ranks}"
        return f"the baseline: {counts}, since no run on one device was imported"
    return f"the speedup is relative to {ranks} ranks, which count as {ranks}"
