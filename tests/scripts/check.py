"""Run the scripts of this folder plainly and compare what each counts itself with expected.json.

    python tests/scripts/check.py [--python BIN] [NAME ...]

Each run has a temporary folder as its working directory and one thread per process. --python names the interpreter
of an environment that has what the entries need. Prints one line per entry; exit code 1 if any differs.
"""

import argparse
import importlib.util
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def command_of(entry: dict, python: str) -> list[str]:
    script = [str(HERE / entry["script"]), *entry["args"]]
    if entry["start"] == "python":
        return [python, *script]
    return [python, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={entry['ranks']}", *script]


def run(entry: dict, python: str, timeout: float) -> tuple[int | None, dict[int, dict], str, float]:
    """Exit code (None: out of time), what each rank counted, the end of the output, and seconds taken."""
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts.jsonl"
        work = Path(folder) / "work"
        work.mkdir()
        env = {**os.environ, "COUNT_TO": str(counts), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        log = Path(folder) / "log"
        begin = time.monotonic()
        with log.open("w") as out:
            try:
                done = subprocess.run(
                    command_of(entry, python), cwd=work, env=env, stdout=out, stderr=out, timeout=timeout
                )
                code = done.returncode
            except subprocess.TimeoutExpired:
                code = None
        seconds = time.monotonic() - begin
        lines = [json.loads(line) for line in counts.read_text().splitlines()] if counts.exists() else []
        assert len({line["rank"] for line in lines}) == len(lines), f"a rank wrote twice: {lines}"
        return code, {line["rank"]: line for line in lines}, log.read_text(errors="replace")[-2000:], seconds


def differences(entry: dict, code: int | None, counts: dict[int, dict]) -> list[str]:
    """What differs from the entry. `steps` and `samples` are one number for all ranks, or a list, one per rank."""
    found = []
    if code != entry["exit_code"]:
        found.append(f"exit code {code}, expected {entry['exit_code']}")
    if sorted(counts) != list(range(entry["ranks"])) and entry["steps"] != 0:  # no line where nothing was counted
        found.append(f"counts of ranks {sorted(counts)}, expected {entry['ranks']} ranks")
    for rank, line in sorted(counts.items()):
        for field in ("steps", "samples"):
            expected = entry[field][rank] if isinstance(entry[field], list) else entry[field]
            if expected is not None and line[field] != expected:
                found.append(f"rank {rank}: {field} {line[field]}, expected {expected}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="scripts to run, with or without .py; all if none"
    )
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("-v", "--verbose", action="store_true", help="show the end of the output of each run")
    args = parser.parse_args()
    wanted = {name.removesuffix(".py") for name in args.names}
    entries = json.loads((HERE / "expected.json").read_text())
    bad = 0
    for entry in entries:
        if wanted and entry["script"].removesuffix(".py") not in wanted:
            continue
        label = shlex.join([entry["script"], *entry["args"]]) + f"  [{entry['ranks']} x {entry['start']}]"
        needs = entry["needs"]
        if needs and args.python == sys.executable and importlib.util.find_spec(needs) is None:
            print(f"skip  {label}: no {needs} here")
            continue
        code, counts, log, seconds = run(entry, args.python, args.timeout)
        found = differences(entry, code, counts)
        bad += bool(found)
        training = max((line["seconds"] for line in counts.values()), default=0.0)
        print(f"{'DIFF' if found else 'ok':5} {label}  {seconds:.1f} s, training {training:.1f} s", flush=True)
        for line in found:
            print(f"      {line}")
        if found or args.verbose:
            print("      | " + "\n      | ".join(log.splitlines()[-25:]))
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
