"""The folder for files that programs of a user can recreate."""

import os
from pathlib import Path


def user_cache() -> Path:
    """Return the user's cache folder. Raises RuntimeError if the user has no home folder."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return named if named.is_absolute() else Path.home() / ".cache"
