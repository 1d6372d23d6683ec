"""Folders whose files are not output of a script: Python, packages, caches, the system, and the run's own."""

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
    """Folders whose files do not count as shared: the run's own, Python's, and caches.

    launch: folder of the run. own: folders of the script. A hidden folder in the user's home counts as a cache,
    unless the script is inside.
    """
    folders = [launch, sys.prefix, sys.exec_prefix, sys.base_prefix, *site.getsitepackages()]
    folders += [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    folders += [os.environ[name] for name in CACHES if os.environ.get(name)]
    hidden = os.path.join(os.path.expanduser("~"), ".")
    known = {folder.rstrip(os.sep) + os.sep for folder in folders}
    return tuple(known if any(place.startswith(hidden) for place in own) else {*known, hidden})


def not_counted() -> tuple[str, ...]:
    """Folders of the system and of temporary files. Their files count only if the script itself is in them."""
    folders = (*NOT_COUNTED, tempfile.gettempdir(), "/tmp", "/var/tmp")
    return tuple({folder.rstrip(os.sep) + os.sep for folder in folders})
