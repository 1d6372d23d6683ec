"""The port at which the nodes of a launch meet."""

from __future__ import annotations

import platform
import random
import socket

from scalestudy.errors import UserError

PORTS = range(20_000, 32_768)
"""Below those that Linux gives to outgoing connections."""


def free_port() -> int:
    """A port of this host that nobody listens on now, drawn at random: two launches hardly draw the same.

    Torchrun also knows a launch by its name, and lets no other in.
    """
    for _ in range(100):
        port = random.SystemRandom().choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
    raise UserError(f"no port of {PORTS.start} to {PORTS.stop - 1} is free on {platform.node()}")
