"""`scalestudy` and `python -m scalestudy`: says in one line what the command lacks, or else starts it.

Up to there it imports the standard library only, and runs on every Python that the package can be installed on.
"""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec

OLDEST = (3, 11)
MODULES = (
    *("click", "fontTools", "jinja2", "matplotlib", "numpy", "pynvml", "pandas", "psutil", "pyarrow"),
    *("pydantic", "yaml", "quantiphy", "requests", "sklearn", "scipy", "seaborn", "snakemake", "tqdm"),
)
"""What the packages of the extra `study` in pyproject.toml are imported as."""
INSTALL = "install 'scalestudy[study]'"


def main() -> int:
    """Run one command (cli/main.py); 2, and one line, where the environment is not enough for any."""
    if lacking := requirement():
        print(f"scalestudy: {lacking}", file=sys.stderr)
        return 2
    from scalestudy.cli.main import main as command

    return command()


def requirement() -> str:
    """What the command needs and does not have, with the command that installs it; '' if it has everything."""
    if sys.version_info[:2] < OLDEST:
        here, oldest = ("{}.{}".format(*version) for version in (sys.version_info, OLDEST))
        return (
            f"the command needs Python {oldest} or newer, and this is Python {here}. Make an environment with it:"
            f" python{oldest} -m venv .venv && .venv/bin/pip {INSTALL}"
        )
    missing = [name for name in MODULES if find_spec(name) is None]
    if not missing:
        return ""
    several = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    return (
        f"Python packages are missing: {', '.join(missing[:3])}{several}. Install them:"
        f" {shlex.quote(sys.executable)} -m pip {INSTALL}"
    )


if __name__ == "__main__":
    sys.exit(main())
