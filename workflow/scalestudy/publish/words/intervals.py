"""How the limits of a speedup were made."""

from __future__ import annotations

from scalestudy.registry.codes import IntervalMethod

METHODS = {
    IntervalMethod.NONE: None,
    IntervalMethod.WELCH_T: "Welch t on logarithms",
    IntervalMethod.HIERARCHICAL_BOOTSTRAP: "hierarchical bootstrap",
}
"""As numbers.json has it."""
