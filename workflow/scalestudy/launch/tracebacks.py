"""The exception that ended processes of a run before they could report anything, from the run's log."""

import re

# A traceback as Python prints it: its frames are indented, and the exception follows.
TRACEBACK = re.compile(
    r"^Traceback \(most recent call last\):\n(?:[ \t][^\n]*\n)+(\w[\w.]*(?:: [^\n]*)?)$", re.MULTILINE
)
# torchrun ends with an exception of its own if a rank fails.
OF_THE_STARTER = "torch.distributed.elastic."
LONGEST = 300


def last_exception(log: str) -> str | None:
    """The exception of the last traceback in a log, with its message; None where the log has no traceback."""
    found = [said for said in TRACEBACK.findall(log) if not said.startswith(OF_THE_STARTER)]
    if not found:
        return None
    return found[-1] if len(found[-1]) <= LONGEST else f"{found[-1][: LONGEST - 3]}..."
