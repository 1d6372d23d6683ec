"""The verdict on a point."""

from __future__ import annotations

from scalestudy.registry.codes import Verdict

VERDICTS = {
    Verdict.HEALTHY: "healthy",
    Verdict.UNDECIDED: "undecided",
    Verdict.POOR: "poor",
    Verdict.NEGATIVE_SCALING: "negative scaling",
    Verdict.CONFOUNDED: "confounded",
    Verdict.NOT_MEASURED: "not measured",
}
WITHOUT_RATIO = (Verdict.CONFOUNDED, Verdict.NOT_MEASURED)
"""Those that go without a speedup."""
