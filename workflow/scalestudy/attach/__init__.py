"""Code that runs inside a user's training script: it observes and records, and the script is not changed.

A folder with `sitecustomize.py` is put first on PYTHONPATH, so that every Python process of a run loads this
package before the script begins. The package needs only the standard library and torch, from Python 3.9 and torch
2.4 on, since the script may have its own environment without any other package of ours. For the same reason it is
loaded by its path, under the name `scalestudy_attach`, and its modules import each other relatively.

    site/sitecustomize.py  runs the site's own module of this name, and calls begin()
    begin.py               waits until torch is imported
    hooks.py               hooks in the functions of torch
    journal.py             events of the hooks, until they are read
    rank.py                one process: its rank, what it trains, its end
    steps.py, row.py       from events to a row for each optimizer step
    clock.py               times of the host, or events of a CUDA stream
    batches.py             samples of a batch, and whether two ranks read the same
    failure.py             description of an error that ends a script
    report.py              the files that a process leaves
    ending.py              agreement of all ranks on the last step
    probes.py              communication probes in the script's last steps
    paths.py, apart.py     files that the script writes, reads and looks for, and folders that do not count
    libraries.py           the same for libraries and programs that open files without Python
    said.py                reports of the script itself, with scalestudy.Recorder
    arguments.py           starts a script only to check whether it accepts its arguments
"""
