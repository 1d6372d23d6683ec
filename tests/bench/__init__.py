"""The benchmark of the instrument itself: what our loop costs, what its recorder costs, what a large study costs.

    make bench                       all of them; needs `.venv-bench`, which it makes
    python -m bench.recorder_cost    our loop with its clock and recorder, and with neither
    python -m bench.loops            our loop beside five others, and beside a hand-written one for every workload
    python -m bench.stopping         steps and seconds until a step time is known, simulated and for real
    python -m bench.communication    whether the methods of measuring communication agree
    python -m bench.documents        every stage after training, for 10, 100 and 1000 synthetic runs

Run from `tests/`, or with it on PYTHONPATH. Nothing here is a test: pytest does not collect it, and no figure
it prints is compared with a threshold. Close everything else first: it times.
"""
