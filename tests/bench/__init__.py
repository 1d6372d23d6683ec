"""The benchmark of the instrument itself: what our loop costs, what its recorder costs, what a large study costs.

    make bench                       all three; needs `.venv-bench`, which it makes
    python -m bench.loops            our loop beside five others that train the same model
    python -m bench.recorder_cost    our loop with its clock and recorder, and with neither
    python -m bench.documents        every stage after training, for 10, 100 and 1000 synthetic runs

Run from `tests/`, or with it on PYTHONPATH. Nothing here is a test: pytest does not collect it, and no figure
it prints is compared with a threshold. Close everything else first: it times.
"""
