"""The benchmark of the instrument itself: what our loop costs, what its recorder costs, what a large study costs.

    make bench                       those that need less than an hour; needs `.venv-bench`, which it makes
    python -m bench.recorder_cost    our loop with its clock and recorder, and with neither
    python -m bench.loops            our loop beside five others, and beside a hand-written one for every workload
    python -m bench.stopping         steps and seconds until a step time is known, simulated and for real
    python -m bench.communication    whether the methods of measuring communication agree
    python -m bench.starts           forked runs beside cold ones
    python -m bench.turns            speedups within runs beside those over runs
    python -m bench.blocks           coverage and cost of comparisons within repeats, simulated
    python -m bench.default_study    how often the default study decides beside a load, and whether it is right
    python -m bench.default_causes   which causes it names beside that load, and with faults put into it
    python -m bench.device_seconds   what a speedup costs beside a load, each gain apart
    python -m bench.audit            what an audit finds of planted errors, and what it says of clean tables
    python -m bench.pages            how many pages with a scaling table, of combined forms, are read rightly
    python -m bench.documents        every stage after training, for 10 to 10 000 synthetic runs

Run from `tests/`, or with it on PYTHONPATH. Nothing here is a test: pytest does not collect it, and no figure
it prints is compared with a threshold. Close everything else first: it times.
"""
