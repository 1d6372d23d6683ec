"""Reads NCCL's warnings and transports from the log of a run.

With NCCL_DEBUG=WARN or more, NCCL prints lines `HOST:PID:TID [DEVICE] FILE:LINE NCCL WARN TEXT`; newer versions
print the time in front (NVIDIA/nccl, src/debug.cc). With INFO it prints a line for each channel and peer that
ends with the transport (src/transport/p2p.cc, shm.cc, net.cc). Other lines of NCCL INFO are not read.
"""

import re
from pathlib import Path

from scalestudy.record.observation import NCCL_INTERFACES, NCCL_TRANSPORT
from scalestudy.record.parts import NCCL_LOG_PREFIX, NCCL_LOG_SUFFIX

WARNING = re.compile(r"\bNCCL WARN (.+)")
VIA = re.compile(
    r"\bNCCL INFO (?:Channel|Ring) \d+(?:/\d+)? : \d+\S* -> \d+\S* (?:\[(?:send|receive)\] )?via ([^\n]+)"
)
"""`Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM`; up to NCCL 2.9
`Ring 00 : 0[0] -> 1[1] via direct shared memory`."""
OLD_SHM = "direct shared memory"
NETWORK = re.compile(r"NET/(.+?)/\d+")
"""`NET/IB/0/GDRDMA`, `NET/AWS Libfabric/1(2)`: the name of the plug-in, and the number of its device."""
USING = re.compile(r"\bNCCL INFO (NET/\w+) : Using ([^\n]+)")
"""`NET/Socket : Using [0]eth0:10.0.0.2<0> [1]ib0:10.1.0.2<0>`,
`NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:..`"""
INTERFACE = re.compile(r"\[\d+\]([^\s:;\[]+)")
P2P, SHM, SOCKET = "P2P", "SHM", "NET/Socket"
LIMIT = 600
"""Largest number of characters of all warnings together in a reason. The log has the complete warnings."""


def nccl_warnings(log: str) -> list[str]:
    """Texts of NCCL's warnings, without duplicates, in the order of the log."""
    return list(dict.fromkeys(text.strip() for text in WARNING.findall(log)))


def with_nccl_warnings(reason: str, log: str) -> str:
    """The reason, followed by at most LIMIT characters of NCCL's warnings that it does not contain already."""
    text = "; ".join(warning for warning in nccl_warnings(log) if warning not in reason)
    if not text:
        return reason
    return f"{reason}; NCCL warned: {text if len(text) <= LIMIT else text[: LIMIT - 3] + '...'}"


def nccl_transport(log: str) -> str | None:
    """The slowest transport of any channel: P2P, SHM, NET/IB or another network, NET/Socket.

    None where no line has a transport: NCCL_DEBUG does not request it, or there is no other rank.
    """
    found = {_transport(text) for text in VIA.findall(log)} - {None}
    return max(found, key=_slowness, default=None)


def nccl_interfaces(log: str, transport: str) -> list[str]:
    """Names of the interfaces or adapters that NCCL found for this network, without duplicates or addresses.

    NCCL may leave some of them idle.
    """
    lists = [text for network, text in USING.findall(log) if network == transport]
    return list(dict.fromkeys(name for text in lists for name in INTERFACE.findall(text)))


def facts_of_nccl(log: str) -> dict[str, str]:
    """Facts of NCCL's log for the record: the transport, and the interfaces where the transport is a network."""
    transport = nccl_transport(log)
    if transport is None:
        return {}
    interfaces = ", ".join(nccl_interfaces(log, transport))
    return {NCCL_TRANSPORT: transport} | ({NCCL_INTERFACES: interfaces} if interfaces else {})


def _transport(via: str) -> str | None:
    if via.startswith((P2P, "direct pointer")):
        return P2P
    if via.startswith((SHM, OLD_SHM)):
        return SHM
    network = NETWORK.match(via)
    return f"NET/{network[1]}" if network else None


def _slowness(transport: str | None) -> int:
    """Order of transports inside a node, fastest first: peer-to-peer, host memory, network adapter, sockets."""
    return {P2P: 0, SHM: 1, SOCKET: 3}.get(transport or "", 2)


def read_nccl_logs(directory: Path) -> str:
    """The joined content of the files that NCCL wrote for a run (train/place/nccl_log.py); empty without files."""
    files = sorted(directory.glob(f"{NCCL_LOG_PREFIX}*{NCCL_LOG_SUFFIX}"))
    return "".join(file.read_text(encoding="utf-8", errors="replace") for file in files)
