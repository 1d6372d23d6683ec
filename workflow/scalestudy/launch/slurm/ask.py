"""Queries to SLURM: its commands, with a time limit, and their messages when the controller is unreachable."""

import re
import subprocess
import time
from collections.abc import Callable

ASK_S = 30  # a controller that has not answered by then is down
AGAIN_S = 5
"""Seconds until a query that got no answer is repeated."""
MISSING = 127
"""Exit status of a command that is not installed."""
AWAY = re.compile(
    r"unable to contact slurm controller|no answer in|timed out|zero bytes were transmitted|connection refused"
    r"|connection reset|standby mode|temporarily un|communication (?:connection )?fail|munge|authentication"
    r"|unexpected message received|no route to host|network is unreachable",
    re.IGNORECASE,
)
"""Messages of SLURM's commands when the controller, or the network to it, is down for a while."""


def ask(*command: str, limit_s: float = ASK_S) -> subprocess.CompletedProcess[str]:
    """Run a SLURM command and return what it printed. If it is not installed or does not end, stderr says so."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=limit_s, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        return subprocess.CompletedProcess(command, MISSING, "", f"{command[0]} is not installed here")
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"no answer in {limit_s:g} s")
    except OSError as error:  # no process or memory left on this host, for the moment
        return subprocess.CompletedProcess(command, 126, "", f"{command[0]}: {error.strerror}")


def ask_patiently(
    *command: str, wait_s: float, limit_s: float, waiting: Callable[[str], None]
) -> subprocess.CompletedProcess[str]:
    """Like `ask`, but repeated for up to `wait_s` seconds while the controller is unreachable.

    waiting: called once with SLURM's message if the controller is unreachable.
    """
    give_up = time.monotonic() + wait_s
    done = ask(*command, limit_s=limit_s)
    if done.returncode and is_away(done.stderr):
        waiting(words(done.stderr))
    while done.returncode and is_away(done.stderr) and time.monotonic() < give_up:
        time.sleep(min(AGAIN_S, wait_s))
        done = ask(*command, limit_s=limit_s)
    return done


def is_away(said: str) -> bool:
    """Whether an error means that the controller is temporarily unreachable, so that a later query may succeed."""
    return bool(AWAY.search(said))


def words(said: str) -> str:
    """SLURM's messages on one line: 'a; b' for 'sbatch: error: a' and 'sbatch: error: b'."""
    lines = [re.sub(r"^\w+: (?:error|fatal): ", "", line.strip()) for line in said.splitlines()]
    return "; ".join(dict.fromkeys(filter(None, lines))) or "SLURM gave no reason"
