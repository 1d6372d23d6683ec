"""scalestudy: from the runs of somebody's PyTorch training to the table in their paper.

The package is a house of floors; a module imports from lower floors only, and
`tests/unit/test_architecture.py` holds that:

    8  __main__        starts the command, or says what its environment lacks
    7  cli             what people type, and a command for every Snakemake rule
    6  reference       generated from models and registry: documentation, JSON schemas
    5  compare         several studies in one document
    4  publish         figures, tables, text, pages: data in, files out, no analysis
    3  diagnose        evidence -> findings -> recommendations
    2  analyse         statistics and scaling: frames in and out, no files, no torch
    2  chain, demo     what the workflow's rules decide; studies with a known fault
    1  train, launch   train: our own training, with torch; launch: processes and outcomes
    1  attach          what runs inside somebody's own script: the standard library and torch, nothing of ours
    1  adapters        callbacks of frameworks: the framework and the standard library
    0  study, record   study: config model and plan; record: the observation on disk
    0  registry        every column, table and figure, declared once
    0  recorder        what a script can say by itself, with the standard library alone
    0  project         where rules, templates, profiles and studies are
"""

__all__ = ["Recorder", "__version__"]
__version__ = "0.2.0"


def __getattr__(name):  # type: ignore[no-untyped-def]
    """Recorder, which is imported when a script asks for it: no other module of ours needs it."""
    if name != "Recorder":
        raise AttributeError(f"module 'scalestudy' has no attribute {name!r}")
    from scalestudy.recorder import Recorder

    return Recorder
