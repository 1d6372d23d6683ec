"""`python -m scalestudy.launch.nodes.node`: runs on every node of a run, checks the node and starts its ranks."""

import argparse
import os
import platform
import signal
import subprocess
import sys
import threading
from pathlib import Path

from scalestudy.launch.beside.load import watch_node
from scalestudy.launch.command import launch_environment, rank_command
from scalestudy.launch.guards.host import look
from scalestudy.record.files import write_json, write_text
from scalestudy.record.host.environment import NODE
from scalestudy.study.spec import CommandSpec, RunSpec, parse_spec


def main() -> int:
    """Become the ranks of this node; return 1 where the node is refused."""
    parser = argparse.ArgumentParser(prog="python -m scalestudy.launch.nodes.node", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the run's partial directory")
    parser.add_argument("--data", type=Path, required=True, help="directory with prepared data")
    parser.add_argument("--start-limit-s", type=float, required=True, help="seconds to wait for other nodes")
    parser.add_argument("--stall-limit-s", type=float, required=True, help="passed on to the ranks")
    parser.add_argument("--meet", metavar="ADDRESS:PORT", help="rendezvous on the first of several nodes")
    parser.add_argument("--index", type=int, help="index of this node (default: SLURM_NODEID)")
    parser.add_argument("--name", help="name of this node without SLURM (default: the host's)")
    parser.add_argument("--end-with-stdin", action="store_true", help="end when standard input is closed")
    arguments = parser.parse_args()
    spec = parse_spec((arguments.out / "spec.json").read_text(encoding="utf-8"))
    index = int(os.environ["SLURM_NODEID"]) if arguments.index is None else arguments.index
    name = os.environ.get("SLURMD_NODENAME") or arguments.name or platform.node()
    environment = launch_environment(spec, arguments.out) | {NODE: name}
    guard = look(spec, environment)
    write_json(
        arguments.out / f"node-{index}.json",
        {
            "name": name,
            "host": platform.node(),
            "step": os.environ.get("SLURM_STEP_ID"),
            "cores": sorted(os.sched_getaffinity(0)),
            "gpus": os.environ.get("CUDA_VISIBLE_DEVICES"),
            **guard.environment,
        },
        lasting=False,
    )
    if guard.refused:
        write_text(arguments.out / "refused.txt", f"{name}: {guard.refused}\n")
        print(guard.refused, file=sys.stderr)
        return 1
    command = rank_command(
        spec,
        arguments.out,
        arguments.data,
        stall_limit_s=arguments.stall_limit_s,
        rendezvous=meet(spec, arguments.meet, index, arguments.start_limit_s) if arguments.meet else (),
    )
    watch_node(spec, guard.cpus, environment, arguments.out / f"load-{index}.jsonl")
    if isinstance(spec, CommandSpec):
        os.chdir(spec.directory)
    if arguments.end_with_stdin:
        return run_until_stdin_ends(command, environment)
    return os.execvpe(command[0], command, environment)


def meet(spec: RunSpec, place: str, index: int, limit_s: float) -> list[str]:
    """Torchrun's arguments for a rendezvous at ADDRESS:PORT, with the store on the first node.

    The rendezvous id is unique to this run, so nodes of another run that use the same port by accident are
    refused. limit_s: seconds to wait for the nodes.
    """
    return [
        f"--nnodes={spec.nodes}",
        "--rdzv_backend=c10d",
        f"--rdzv_id={spec.run_id}-{place.rsplit(':', 1)[1]}",
        f"--rdzv_endpoint={place}",
        f"--rdzv_conf=is_host={int(index == 0)},join_timeout={int(limit_s)}",
    ]


def run_until_stdin_ends(command: list[str], environment: dict[str, str]) -> int:
    """Run the ranks as a child process that gets SIGTERM when standard input is closed. Returns its exit code."""
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)

    def wait_for_the_end() -> None:
        while os.read(0, 4096):
            pass
        process.send_signal(signal.SIGTERM)

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, lambda *_: process.send_signal(signal.SIGTERM))
    code = process.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
