"""What NCCL warned of in the log of a launch.

NCCL prints a line `HOST:PID:TID [DEVICE] FILE:LINE NCCL WARN TEXT` where NCCL_DEBUG is WARN or more; newer
versions put a time in front (NVIDIA/nccl, src/debug.cc). Lines of NCCL INFO are chatter and stay in the log.
"""

import re

WARNING = re.compile(r"\bNCCL WARN (.+)")
LIMIT = 600
"""Characters of all warnings together in a reason. The log has the rest."""


def nccl_warnings(log: str) -> list[str]:
    """Texts of NCCL's warnings, each once, in the order of the log."""
    return list(dict.fromkeys(text.strip() for text in WARNING.findall(log)))


def with_nccl_warnings(reason: str, log: str) -> str:
    """The reason, followed by what NCCL warned of and the reason does not say; at most LIMIT characters of it."""
    text = "; ".join(warning for warning in nccl_warnings(log) if warning not in reason)
    if not text:
        return reason
    return f"{reason}; NCCL warned: {text if len(text) <= LIMIT else text[: LIMIT - 3] + '...'}"
