"""The causes, one module each, in the order of decision: validity, host, transport and structure, size.

The commonest wrong answer is "batch too small", because a larger batch hides nearly every other fault: so the
earlier a cause stands here, the later ones it silences. Each module has `find(case, verdict) -> Finding | None`;
confounded has `find(case)`, since it is asked before there is a verdict, and silences all.
"""

from __future__ import annotations

from scalestudy.diagnose.case import Case
from scalestudy.diagnose.causes import comm_bound, healthy, oversubscribed, unexplained
from scalestudy.diagnose.findings import Finding

IN_ORDER_OF_DECISION = (oversubscribed, comm_bound, healthy, unexplained)


def find_causes(case: Case, verdict: str) -> tuple[Finding, ...]:
    """The first cause that the evidence supports, of a point that is measured and not confounded."""
    for cause in IN_ORDER_OF_DECISION:
        found = cause.find(case, verdict)
        if found is not None:
            return (found,)
    return ()
