"""`python -m scalestudy.launch.forked.parent KEY`: imports torch once, and forks the ranks of one run after the
other.

It runs no operator, starts no thread and uses no device, so that a forked rank begins in the same state as a new
process. Forks of one parent share its memory layout and hash seed; therefore each repeat of a study has its own
parent. It ends after IDLE_S seconds without a request.
"""

import errno
import importlib
import os
import selectors
import signal
import socket
import sys
import threading

from scalestudy.launch.forked.client import address, peer_uid
from scalestudy.launch.forked.supervisor import supervise

IDLE_S = 30.0
WORKER = "scalestudy.train.rank"
MODULES = (
    "torch",
    "torch._dynamo",  # the first optimizer of a process imports it, with hundreds of modules
    "torch.nn.parallel.distributed",
    "torch.distributed.fsdp",
    WORKER,
)


def preload() -> None:
    """Import the modules that ranks import. A module that is not installed is left to the ranks that need it."""
    for name in MODULES:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not name.startswith(error.name):
                raise


def unfit() -> str:
    """Why this process must not fork ranks; empty where it may."""
    if threading.active_count() > 1:
        return f"{threading.active_count()} threads are running in it"
    if sys.modules["torch"].cuda.is_initialized():
        return "it has a CUDA context"
    return ""


def serve(listener: socket.socket) -> None:
    """Fork a supervisor for every request, until no request has come for IDLE_S seconds."""
    signal.signal(signal.SIGCHLD, lambda *_: None)  # wakes the selector
    waking, woken = socket.socketpair()
    for end in (waking, woken):
        end.setblocking(False)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    busy: set[int] = set()
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(waking, selectors.EVENT_READ)
        while True:
            events = selector.select(None if busy else IDLE_S)
            if not events and not busy:
                listener.shutdown(socket.SHUT_RD)  # refuses later requests; one that just came is still accepted
            for key, _ in events or selector.select(0):
                if key.fileobj is waking:
                    waking.recv(4096)
                    continue
                try:
                    connection, _ = listener.accept()
                except OSError:  # it is shut down, and no request is left
                    return
                if peer_uid(connection) == os.getuid() and not unfit():
                    busy.add(fork_supervisor(connection, listener, waking, woken, selector))
                connection.close()
            busy = {pid for pid in busy if os.waitpid(pid, os.WNOHANG)[0] == 0}


def fork_supervisor(connection: socket.socket, *ours: socket.socket | selectors.BaseSelector) -> int:
    """Fork the supervisor of one run and return its process id. ours: what the supervisor must close."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        for one in ours:
            one.close()
        code = supervise(connection)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def main() -> int:
    """Serve the runs with one key. Returns 0 also where another process already serves them."""
    preload()
    if why := unfit():
        print(f"torch cannot be imported in a process that forks ranks: {why}", file=sys.stderr)
        return 1
    silent = os.open(os.devnull, os.O_WRONLY)
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            listener.bind(address(sys.argv[1]))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return 0
        listener.listen()
        for number in (1, 2):  # do not keep the log of the run that started this process open
            os.dup2(silent, number)
        serve(listener)
    return 0


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    os._exit(status)  # cleaning up after torch would briefly use a core while another run may be measured
