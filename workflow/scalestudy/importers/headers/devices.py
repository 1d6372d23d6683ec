"""Headers of devices: how many there are, how many nodes, and how many devices a node has."""

from __future__ import annotations

import re

from scalestudy.importers.headers.terms import (
    COUNT,
    DEVICE,
    HARDWARE,
    KIND,
    MAKER,
    NEVER,
    NODE,
    TIME_UNIT,
)

DEGREE = r"(?:tp|pp|dp|cp|mp)"
"""Degrees of parallelism. The product of all of them is the number of devices."""
_AFTER = (
    r"(?:num|count|number|amount|quantity|qty|cards?|used|allocated|requested|in use|for training|total|s\b|\W)*"
)
"""Words that may follow the devices in their header."""
_NO_RATE = r"(?!p core$)"
_OR_OTHERS = r"(?: ?/ ?(?:threads|cores|processes|ranks|gpus|workers|cpus)(?!\w))?"
_NUMBER_OF = r"(?:n|nb|no\.?|num(?:ber)?)(?: of)?"
_LETTER = r"(?:(?<=[ ,])n|(?<=s[ ,])[cgkmprtw]|(?<=s, )[cgkmprtw])?"
"""The letter that a text has for a number of devices: GPUs N."""
_KIND_OF_NODE = r"(?:compute|slurm|cluster|physical|hpc|dgx|server|training|worker)"
_WITH_DEVICES = rf"(?: ?\((?:with |of |x ?)?\d+ ?x? ?(?:{DEVICE}|{HARDWARE})[^)]*\))?"
_NODES = re.compile(rf"{COUNT}(?:(?:{_KIND_OF_NODE} )?{NODE}|[cg]pu nodes){COUNT}(?:{_LETTER}|{_WITH_DEVICES})")
_OF_A_NODE = re.compile(
    rf"\W*{COUNT}{DEVICE}{COUNT}(?:(?:per|/|-| )+ ?{NODE}|/ ?h)\W*|\W*n ?procs? per node|"
    rf"\W*(?:n ?)?(?:tasks?|(?:mpi )?{DEVICE})(?:(?:per|/|-| )+){NODE}|[tpr]pn"
)
_OF_A_PART = re.compile(rf"{COUNT}(?:gpus?|cards?)(?: ?/ ?| per )(?:worker|replica|trial|job|pod|task)s?")
_KIND = (
    r"(?:[a-z]{1,3}\d{2,4}s? ?(?:-? ?\d{2,3} ?gb ?)?|nvidia |amd |cuda |tesla |compute |mpi |omp |"
    r"data ?-?parallel |openmp |parallel |worker |train(?:ing|er) |d?dp |fsdp |[cgt]pu |local |physical |"
    r"logical |dask |ray |spark |horovod |active |concurrent |max |gaudi ?\d? |v\d\w? )*"
)
_DEVICES = re.compile(
    rf"{_NO_RATE}(?:[pn] ?\(?)?{COUNT}{_KIND}(?:{DEVICE}{_OR_OTHERS}{_AFTER}{_LETTER}|v?cpu count)|"
    rf"(?:#|{_NUMBER_OF}) ?v?cpu"
)
_OF_A_KIND = re.compile(
    rf"(?:#(?: of)?|num(?:ber)?(?: of)?|no\.(?: of)?) ?{MAKER}?{KIND}s?|{HARDWARE}s|{DEVICE} {HARDWARE}"
)
_DEGREES = re.compile(rf"{DEGREE}(?: x {DEGREE})+")
_PRODUCTS = re.compile(rf"{COUNT}{DEVICE} ?/ ?.{{0,30}}|nodes? ?[x*] ?{DEVICE}|[a-z ]*{DEVICE} x [a-z ]*{DEVICE}")
_GRID = re.compile(r"(?:(?:process(?:or)? )?grid ?)?\(?p ?[x*] ?q\)?|process(?:or)? grid")
"""Headers of the rows and columns of a grid of processes, as HPL has it."""
_EXACTLY = {
    *("world size", "world", "n", "p", "# gpu", "# pr.", "# procs.", "np", "n p", "omp num threads", "nproc"),
    *("par", "max parallelism", "maxparallelism", "nthr", "nthrd", "thr", "n tasks", "nw", "nt", "mpi tasks"),
    *("gomaxprocs", "rayon num threads", "julia num threads", "numlocales", "num locales", "visible devices"),
    *("cuda visible devices", "gpu ids", "pe", "npe", "device ids", "processing units", "# acc", "# accs"),
}
"""Headers of devices that say no more."""
_OF_THREADS = re.compile(rf"pthread.*[(\[]{TIME_UNIT}[)\]]$")
"""Headers of the times of a program with threads."""


def nodes_of(bare: str) -> str:
    """Return nodes, gpus_per_node, or label for the devices of a part of a job; '' for another header."""
    if _NODES.fullmatch(bare):
        return "nodes"
    if _OF_A_NODE.fullmatch(bare):
        return "gpus_per_node"
    return "label" if _OF_A_PART.fullmatch(bare) else ""


def is_of_devices(text: str, bare: str) -> bool:
    """Return whether a header is of a number of devices. bare: the text without its precisions."""
    if _OF_THREADS.match(bare):
        return False
    named = re.sub(r"(?<=\w) ?\([^()/%]{1,60}\)$", "", bare)
    if any(_DEVICES.fullmatch(one) for one in (bare, named)) or {bare, bare.strip("# ")} & _EXACTLY:
        return True
    either = bare.split(" or ")
    if len(either) > 1 and all(is_of_devices(one, one) for one in either):
        return True
    if any(one.fullmatch(bare) for one in (_OF_A_KIND, _GRID)) or _DEGREES.fullmatch(text):
        return True
    return bool(_PRODUCTS.fullmatch(bare)) and not NEVER.search(bare)
