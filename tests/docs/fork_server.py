"""``loopbook`` for a shell of the tests, without the second that Python takes to load it.

``python fork_server.py SOCKET`` loads the command line once, and runs it in a fork for everyone who
connects. `STUB` is the program that connects: it hands over its words, folder, environment and
standard streams, and ends with the exit code that comes back.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import sys

STUB = """\
#!{python} -SE
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({socket!r})
    told = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(told).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(told)
    sys.exit(int(server.recv(16) or b"1"))
"""


def serve(path: str) -> None:
    import loopbook.cli.app
    import loopbook.client.bench  # noqa: F401  # what each fork would have to load

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for forks
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        print("ready", flush=True)
        while True:
            caller, _ = listener.accept()
            with caller:
                if os.fork() == 0:
                    listener.close()
                    _answer(caller)


def _answer(caller: socket.socket) -> None:
    """Run the caller's command line in this fork, and end it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, streams, _, _ = socket.recv_fds(caller, 8, 3)
    size, told = int.from_bytes(head, "big"), b""
    while len(told) < size:
        told += caller.recv(1 << 16)
    words, folder, environment = json.loads(told)
    # When the caller is ended, its socket is closed, and this ends as well.
    signal.signal(signal.SIGIO, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    fcntl.fcntl(caller, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(caller, fcntl.F_SETFL, os.O_ASYNC)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    from loopbook.cli import main

    code = 1
    try:
        code = main(words)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        caller.sendall(str(code).encode())
        os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
