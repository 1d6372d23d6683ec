"""The port of a run's rendezvous: held for the run, and free for the store that its first rank opens."""

from __future__ import annotations

import socket
from datetime import timedelta

import pytest
from scalestudy.errors import UserError
from scalestudy.launch import ranks
from scalestudy.launch.ranks import free_port, held_port, port_of
from torch.distributed import TCPStore


def test_no_other_run_takes_a_held_port(monkeypatch: pytest.MonkeyPatch) -> None:
    with held_port() as holder:
        monkeypatch.setattr(ranks, "PORTS", range(port_of(holder), port_of(holder) + 1))
        with pytest.raises(UserError, match="no port of"):
            held_port()
    assert free_port() in ranks.PORTS, "it is free again"


@pytest.mark.parametrize("libuv", [True, False])
def test_the_store_of_torch_opens_on_a_held_port(libuv: bool) -> None:
    with held_port() as holder:
        store = TCPStore("127.0.0.1", port_of(holder), 1, True, timedelta(seconds=30), use_libuv=libuv)
        assert store.port == port_of(holder)


def test_a_port_on_which_something_listens_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", 0))
        listener.listen()
        monkeypatch.setattr(ranks, "PORTS", range(port_of(listener), port_of(listener) + 1))
        with pytest.raises(UserError, match="no port of"):
            held_port()
