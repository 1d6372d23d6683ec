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
    1  train, launch   train: the only place that imports torch; launch: processes and outcomes
    0  study, record   study: config model and plan; record: the observation on disk
    0  registry        every column, table and figure, declared once
    0  project         where rules, templates, profiles and studies are
"""

__version__ = "0.2.0"
