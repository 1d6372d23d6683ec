"""`scalestudy` and `python -m scalestudy`: starts the command, or prints one line if it lacks something.

Until then it imports only the standard library, so that it runs on every Python on which the package installs.
"""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec

OLDEST = (3, 11)
MODULES = (
    *("click", "fontTools", "jinja2", "matplotlib", "numpy", "packaging", "pynvml", "pandas", "psutil", "pyarrow"),
    *("pydantic", "yaml", "quantiphy", "requests", "rich", "sklearn", "scipy", "seaborn", "snakemake", "tqdm"),
)
"""Import names of the packages in the extra `study` of pyproject.toml."""
INSTALL = "install 'scalestudy[study]'"


def main() -> int:
    """Run one command (cli/main.py). Returns its exit status, or 2 if Python or packages are missing."""
    if lacking := requirement():
        print(f"scalestudy: {lacking}", file=sys.stderr)
        return 2
    from scalestudy.cli.main import main as command

    return command()


def requirement() -> str:
    """Return what is missing, with the command that installs it; '' if nothing is missing."""
    if sys.version_info[:2] < OLDEST:
        here, oldest = ("{}.{}".format(*version) for version in (sys.version_info, OLDEST))
        return (
            f"the command needs Python {oldest} or newer, but this is Python {here}. Make a new environment:"
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
