"""The nodes of a launch as they are told to start, and as they say that they came up."""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scalestudy.launch.ranks import free_port
from scalestudy.study.limits import Limits

SITE = Path("profiles/site.sh")
"""What every node runs before its ranks start: `module load` lines, variables. Read from the working directory."""
UNDER_SITE = '. "$1"; shift; exec "$@"'


def starter_command(directory: Path, data: Path, limits: Limits, *, address: str | None) -> list[str]:
    """What every node runs: node.py, after the lines of the site.

    address: of the first node, where the others meet it; None for one node.
    """
    command = [
        sys.executable,
        "-m",
        "scalestudy.launch.nodes.node",
        "--out",
        str(directory.resolve()),
        "--data",
        str(data.resolve()),
        f"--start-limit-s={limits.start_limit_s:g}",
        f"--stall-limit-s={limits.stall_limit_s:g}",
    ]
    if address is not None:
        command += [f"--meet={address}:{free_port()}"]
    site = SITE.resolve()
    return ["bash", "-c", UNDER_SITE, "site", str(site), *command] if site.exists() else command


def read_nodes(directory: Path) -> list[dict[str, Any]]:
    """What the nodes that came up wrote, in order."""
    paths = sorted(directory.glob("node-*.json"), key=lambda path: int(path.stem.removeprefix("node-")))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def read_refusal(directory: Path) -> str | None:
    """Why a rank or a node refused to train; None where none did."""
    path = directory / "refused.txt"
    return path.read_text(encoding="utf-8").strip() if path.exists() else None


def nodes_of_ranks(directory: Path) -> dict[int, str]:
    """Names of the nodes of ranks, which they left when they had met; empty where they had not."""
    path = directory / "world.json"
    world = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return {member["rank"]: member["node"] for member in world}


def gathered(nodes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """`hardware`, `warnings` and `nodes` for the environment of a run, from what its nodes saw of themselves."""
    several = len(nodes) > 1
    return {
        "hardware": nodes[0]["hardware"] if nodes else {},
        "warnings": [
            {**warning, "text": f"{node['name']}: {warning['text']}" if several else warning["text"]}
            for node in nodes
            for warning in node["warnings"]
        ],
        "nodes": [{key: node[key] for key in ("name", "host", "cores", "gpus")} for node in nodes],
    }


class NotAllCameError(RuntimeError):
    """Some nodes of a launch did not come up in time; says which did."""


class Arrivals:
    """Watches the nodes of a launch come up."""

    def __init__(self, directory: Path, *, nodes: int, limit_s: float) -> None:
        self._directory, self._nodes = directory, nodes
        self._limit_s, self._since = limit_s, time.monotonic()

    def check(self) -> None:
        """Raises NotAllCameError where the time is up; call it as often as you like."""
        if not self._nodes or time.monotonic() - self._since < self._limit_s:
            return
        came = read_nodes(self._directory)
        if len(came) < self._nodes:
            names = ", ".join(node["name"] for node in came)
            who = f": {names}" if names else ""
            raise NotAllCameError(f"{len(came)} of {self._nodes} nodes came up within {self._limit_s:g} s{who}")
        self._nodes = 0
