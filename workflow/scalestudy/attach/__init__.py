"""What runs inside somebody else's training script: it looks on and writes down, and the script stays as it is.

A folder with `sitecustomize.py` is put first on PYTHONPATH, so that every Python process of a launch loads this
package before the script begins. It needs the standard library and torch, from Python 3.9 and torch 2.4 on, since
the script may have an environment of its own in which nothing else of ours is installed. For the same reason it is
loaded by its path, under the name `scalestudy_attach`, and its modules import each other relatively.

    site/sitecustomize.py  chains the site's own, then calls begin()
    begin.py               waits for torch to be imported
    hooks.py               the places of torch that are looked at
    journal.py             what they note, until it is read
    rank.py                one process as they see it: its place, what it trains, its end
    steps.py, row.py       from what they see to a row for each optimizer step
    clock.py               marks of the host, or events of a CUDA stream
    batches.py             samples of a batch, and whether two ranks read the same
    failure.py             what is told of an error that ends a script
    report.py              the files that a process leaves
    ending.py              the last step, on all ranks the same
    probes.py              what communication costs, in the script's last steps
    paths.py, apart.py     files that the script writes, reads and looks for, and folders that do not count
    libraries.py           the same of libraries and programs that open files without Python
    said.py                what the script itself says, with scalestudy.Recorder
    arguments.py           no launch: a script is begun, to see whether it takes its arguments
"""
