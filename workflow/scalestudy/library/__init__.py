"""What other programs call: speedups of own measurements, finished studies, audits. Without torch and Snakemake.

These modules import only the standard library at first, and can be imported on Python 3.9. A function imports what
it needs when it is called, and says what to install if that is missing.
"""

from scalestudy.library.needs import MissingPackageError
from scalestudy.library.published import Audit, AuditedCase, audit
from scalestudy.library.ratios import Efficiency, Speedup, efficiency, speedup
from scalestudy.library.results import Results, read
from scalestudy.library.workflow import snakefile

__all__ = [
    "Audit",
    "AuditedCase",
    "Efficiency",
    "MissingPackageError",
    "Results",
    "Speedup",
    "audit",
    "efficiency",
    "read",
    "snakefile",
    "speedup",
]
