"""The log of changes of the measuring code: what changed, and why it measures the same or which protocol it is.

    python tests/measuring.py --same WHY --untouched HOW  the same: no line that runs while a step is timed changed
    python tests/measuring.py --same WHY --ratio FILE     the same: FILE is what `python -m bench.step_times` wrote
    python tests/measuring.py --protocol                  another: the version was raised in record/protocol.py

An entry has the hashes of the files that it changed (null: gone). All of them together are the code of today.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import sys
from pathlib import Path
from typing import Any

from scalestudy.record.fingerprint import measuring_code
from scalestudy.record.protocol import CURRENT, PROTOCOLS

LOG = Path(__file__).parent / "unit" / "record" / "measuring_code.json"
WIDEST = 0.01
"""Both limits of the 90 % interval of the ratio of two revisions must be this close to 1."""

Entry = dict[str, Any]

ASKED = """
The code that measures is not the code that was declared:
{changes}
Say what that means for finished runs (docs/protocol.md):
- it measures the same: python tests/measuring.py --same WHY, with --untouched HOW where no line that runs while a
  step is timed changed, or --ratio FILE from `python -m bench.step_times` where one did;
- it measures something else, or otherwise: raise the version in workflow/scalestudy/record/protocol.py, then
  python tests/measuring.py --protocol.
"""


def read_log() -> list[Entry]:
    """Return all entries, the oldest first. The oldest has every file of release 0.1."""
    return json.loads(LOG.read_text(encoding="utf-8"))


def undeclared(log: list[Entry], code: dict[str, str]) -> dict[str, str | None]:
    """Return file -> hash for files that differ from the log; None for a file that is gone."""
    declared: dict[str, str | None] = {}
    for entry in log:
        declared |= entry["files"]
    names = sorted({name for name, value in declared.items() if value} | set(code))
    return {name: code.get(name) for name in names if code.get(name) != declared.get(name)}


def question(changes: dict[str, str | None]) -> str:
    """What the author of these changes has to do."""
    lines = [f"  {name}{'' if value else ' (gone)'}" for name, value in changes.items()]
    return ASKED.format(changes="\n".join(lines))


def refusal(log: list[Entry]) -> str:
    """Return the fault of the entries, or '' if there is no fault."""
    versions = [log[0]["protocol"]]
    for before, entry in itertools.pairwise(log):
        if entry["protocol"] != before["protocol"]:
            versions.append(entry["protocol"])
            continue
        evidence = entry["evidence"]
        low, high = evidence.get("ratio_low", 1.0), evidence.get("ratio_high", 1.0)
        if not evidence.get("untouched") and "ratio_low" not in evidence:
            return f"{entry['date']}, {entry['why']}: measures the same, and has no evidence"
        if low < 1 - WIDEST or high > 1 + WIDEST:
            return f"{entry['date']}, {entry['why']}: the ratio of the two revisions is {low} to {high}"
    known = [protocol.version for protocol in PROTOCOLS]
    return "" if versions == known else f"the log has protocols {versions}, record/protocol.py has {known}"


def main() -> int:
    """Add an entry for the undeclared changes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--same", metavar="WHY", help="the change measures the same: what was changed")
    parser.add_argument("--untouched", metavar="HOW", help="why the timed path is untouched")
    parser.add_argument("--ratio", metavar="FILE", type=Path, help="what `python -m bench.step_times` wrote")
    parser.add_argument("--protocol", action="store_true", help="the change is of the newest protocol")
    arguments = parser.parse_args()
    if bool(arguments.same) == arguments.protocol or (
        arguments.same and not (arguments.untouched or arguments.ratio)
    ):
        parser.error("give --same with --untouched or --ratio, or --protocol")
    evidence = {"untouched": arguments.untouched} if arguments.untouched else {}
    if arguments.ratio:
        evidence |= json.loads(arguments.ratio.read_text(encoding="utf-8"))
    log = read_log()
    changes = undeclared(log, measuring_code())
    if not changes:
        print("nothing to declare")
        return 0
    entry: Entry = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "protocol": CURRENT,
        "why": arguments.same or PROTOCOLS[-1].changes,
        "evidence": evidence,
        "files": changes,
    }
    if refused := refusal([*log, entry]):
        print(refused, file=sys.stderr)
        return 1
    LOG.write_text(json.dumps([*log, entry], indent=1) + "\n", encoding="utf-8")
    print(f"{LOG}: {len(changes)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
