"""Where a user's programs keep what they can make again."""

import os
from pathlib import Path


def user_cache() -> Path:
    """The folder of the user's caches; raises RuntimeError where the user has no home folder."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return named if named.is_absolute() else Path.home() / ".cache"
