"""Commands that start the nodes of a run, and the files by which nodes report that they came up."""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scalestudy.launch.ranks import free_port
from scalestudy.study.limits import Limits

SITE = Path("profiles/site.sh")
"""Shell lines that every node runs before its ranks start, such as `module load`. In the working directory."""
UNDER_SITE = '. "$1"; shift; exec "$@"'


def starter_command(directory: Path, data: Path, limits: Limits, *, address: str | None) -> list[str]:
    """The command of every node: node.py, after the site's shell lines.

    address: of the first node, for the rendezvous; None for one node.
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
    """The reports of the nodes that came up, in order of their index."""
    paths = sorted(directory.glob("node-*.json"), key=lambda path: int(path.stem.removeprefix("node-")))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def read_refusal(directory: Path) -> str | None:
    """Why a rank or a node refused to train; None where none refused."""
    path = directory / "refused.txt"
    return path.read_text(encoding="utf-8").strip() if path.exists() else None


def nodes_of_ranks(directory: Path) -> dict[int, str]:
    """Rank -> name of its node, as the ranks wrote after their rendezvous; empty where there was no rendezvous."""
    path = directory / "world.json"
    world = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return {member["rank"]: member["node"] for member in world}


def gathered(nodes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """`hardware`, `warnings` and `nodes` for the environment of a run, from the reports of its nodes."""
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
    """Some nodes of a run did not come up in time; the text lists those that did."""


class Arrivals:
    """Checks whether the nodes of a run come up in time."""

    def __init__(self, directory: Path, *, nodes: int, limit_s: float) -> None:
        self._directory, self._nodes = directory, nodes
        self._limit_s, self._since = limit_s, time.monotonic()

    def check(self) -> None:
        """Raise NotAllCameError if the time is over and a node is missing. May be called at any rate."""
        if not self._nodes or time.monotonic() - self._since < self._limit_s:
            return
        came = read_nodes(self._directory)
        if len(came) < self._nodes:
            names = ", ".join(node["name"] for node in came)
            who = f": {names}" if names else ""
            raise NotAllCameError(
                f"only {len(came)} of {self._nodes} nodes came up within {self._limit_s:g} s{who}"
            )
        self._nodes = 0
