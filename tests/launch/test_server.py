# SPDX-License-Identifier: MIT
"""A server counts as ready only if it is the one that answers."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from hasp.base.errors import HaspError
from hasp.launch import server
from hasp.launch.ready import Ready, parse_ready


def listening() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


def test_a_server_that_listens_answers() -> None:
    with listening() as listener:
        assert server._answers(parse_ready(f"tcp:{listener.getsockname()[1]}"))


def test_a_connection_to_itself_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The local port of the probe may be the one where the server will listen."""

    def to_itself(address: tuple[str, int], timeout: float) -> socket.socket:
        probe = socket.socket()
        probe.bind(address)
        probe.connect(address)
        return probe

    with listening() as listener:
        port = listener.getsockname()[1]
    monkeypatch.setattr(socket, "create_connection", to_itself)
    assert not server._answers(Ready("tcp", host="127.0.0.1", port=port))
    with socket.socket() as own:
        own.bind(("127.0.0.1", port))  # the probe has left the port usable


def test_an_unknown_host_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(HaspError) as refusal:
        server.refuse_if_occupied(parse_ready("tcp:lcoalhost:8080"))
    assert "'lcoalhost' is unknown" in refusal.value.message
    assert "correct its name" in refusal.value.remedy
