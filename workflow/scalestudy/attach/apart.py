"""Folders whose files are no output of a script: Python, packages, caches, the system, and the launch's own."""

from __future__ import annotations

import os
import site
import sys
import tempfile

NOT_COUNTED = ("/dev", "/proc", "/sys", "/run", "/usr", "/lib", "/etc", "/opt/conda")
CACHES = (
    *("XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "HF_DATASETS_CACHE", "TRANSFORMERS_CACHE", "TORCH_HOME"),
    *("TORCH_EXTENSIONS_DIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TRITON_HOME", "CUDA_CACHE_PATH"),
    *("MPLCONFIGDIR", "NUMBA_CACHE_DIR", "WANDB_CACHE_DIR", "NLTK_DATA", "KERAS_HOME"),
)
"""Variables that name the folder of a cache."""
HIDDEN = (f"{os.sep}__pycache__{os.sep}", f"{os.sep}.git{os.sep}", f"{os.sep}.snakemake{os.sep}", "site-packages")


def apart(launch: str, own: tuple[str, ...]) -> tuple[str, ...]:
    """Folders that are no part of what the script shares: the launch's own, Python's, and caches.

    own: folders of the script. What is hidden in the user's home is a cache, unless the script lies there.
    """
    folders = [launch, sys.prefix, sys.exec_prefix, sys.base_prefix, *site.getsitepackages()]
    folders += [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    folders += [os.environ[name] for name in CACHES if os.environ.get(name)]
    hidden = os.path.join(os.path.expanduser("~"), ".")
    known = {folder.rstrip(os.sep) + os.sep for folder in folders}
    return tuple(known if any(place.startswith(hidden) for place in own) else {*known, hidden})


def not_counted() -> tuple[str, ...]:
    """Folders of the system and of temporary files. They count where the script itself lies in one."""
    folders = (*NOT_COUNTED, tempfile.gettempdir(), "/tmp", "/var/tmp")
    return tuple({folder.rstrip(os.sep) + os.sep for folder in folders})
