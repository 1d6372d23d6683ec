"""Which rounds of turns count."""

from __future__ import annotations

import numpy as np
from scalestudy.measure.quiet import MOST_WAIT, counted_rounds, is_quiet


def test_a_round_counts_where_nobody_else_took_a_core() -> None:
    waits = np.array([0.0, MOST_WAIT, MOST_WAIT + 1e-6, 0.5])
    assert is_quiet(waits).tolist() == [True, True, False, False]
    assert counted_rounds(waits).tolist() == [True, True, False, False]


def test_where_no_round_was_quiet_all_of_them_count() -> None:
    assert counted_rounds(np.array([0.2, 0.4, 0.3])).all()
