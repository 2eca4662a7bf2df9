"""Whatever runs in a jail reaches nothing of ours, takes no more than it may, and ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from client_kit import product, text_of
from wait_kit import wait_until

import loopbook
from loopbook.errors import (
    DeadlineError,
    JailError,
    KernelError,
    LoopbookError,
    MemoryLimitError,
)
from loopbook.toolchain import jail
from loopbook.toolchain.jail.inmate import USER

HERE = Path(__file__).parent
MIB = 1 << 20
SMALL = jail.Limits(seconds=300.0, memory=512 * MIB, processes=40, files=32 * MIB)


def run(job: str, given: Any = None, limits: jail.Limits = SMALL) -> Any:
    return jail.call(f"jail_jobs:{job}", given, limits=limits, what="the guest", modules=[HERE])


def processes(mark: str) -> list[str]:
    """The machine's processes that were started with this word."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
        except OSError:  # it has ended
            continue
    return found


def test_values_go_in_and_come_back():
    value = {"a": [1, 2.5, None, "ü\n"], "b": {}}
    assert run("echo", value) == value
    large = "x" * (4 * MIB)
    assert jail.call("builtins:len", large, limits=SMALL) == len(large)


def test_the_inmate_is_nobody_in_an_empty_world(monkeypatch):
    monkeypatch.setenv("DOCC_ACCESS_TOKEN", "secret-9d1f")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("LOOPBOOK_MARCH", "x86-64-v3\nLD_PRELOAD=/tmp/x.so")
    told = run("surroundings")
    environment = told["environment"]
    assert "secret-9d1f" not in str(environment)
    assert environment["OMP_NUM_THREADS"] == "2"
    assert "LOOPBOOK_MARCH" not in environment
    assert environment.keys() <= {*jail.walls.ENVIRONMENT, *jail.walls.KEPT, "PYTHONPATH", "PWD"}
    assert {*told["users"]} == {USER}
    assert {*told["groups"]} <= {USER}
    assert {*told["rights"]} == {"0" * 16}
    assert told["no_new_rights"] == "1"
    assert len(told["processes"]) <= 3
    assert told["networks"] == ["lo"]
    assert told["open"] == [0, 1, 2, 3]  # the last one takes its answer
    assert told["limits"] == [[40, 40], [12 * jail.GIB] * 2]
    assert run("environments", "secret-9d1f") == []


def test_the_network_is_not_reached():
    name = f"loopbook-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(f"\0{name}")
        unix.listen()
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port)).close()  # we reach it
        told = run("reach", [port, name])
    assert told == ["ConnectionRefusedError", "ConnectionRefusedError", "OSError"]


def test_our_files_are_not_read(tmp_path, monkeypatch):
    home = Path.home()
    book = tmp_path / "book.db"
    secret = home / f".loopbook-test-{os.getpid()}"
    book.write_text("records")
    secret.write_text("token")
    paths = [str(secret), str(book), f"{tmp_path}/", "/etc/shadow", "/etc/passwd", "/root/.ssh/"]
    paths += ["/home/", "/var/", "/sys/", f"{HERE.parents[1]}/.git/", "/proc/1/root/etc/hostname"]
    try:
        told = run("read", paths)
    finally:
        secret.unlink()
    assert set(told) <= {"FileNotFoundError", "PermissionError", "NotADirectoryError"}


def test_nothing_is_written_outside(tmp_path):
    mark = Path("/tmp/loopbook-was-here")
    mark.unlink(missing_ok=True)
    package = Path(loopbook.__file__).parent
    paths = ["/", "/usr", "/usr/lib", "/etc", "/dev", "/proc", "/proc/sys/kernel", "/root"]
    paths += [str(package), str(HERE), sys.prefix, sys.base_prefix, str(tmp_path), "/var/tmp"]
    assert run("write", [*paths, "/tmp", "/dev/shm"]) == ["/tmp", "/dev/shm"]
    assert not mark.exists()
    assert not [path for path in paths if Path(path, mark.name).exists()]
    assert run("read", ["/tmp/", str(mark)]) == ["done", "FileNotFoundError"]  # a new one each time


def test_nobody_becomes_root_or_makes_room():
    assert run("mount") == [-1] * 6


def test_processes_are_limited():
    assert 10 < run("crowd") < SMALL.processes


def test_a_fork_bomb_ends():
    before = len(processes("-P"))
    with pytest.raises((DeadlineError, KernelError)):
        run("bomb", limits=jail.Limits(seconds=1.0, processes=30))
    assert wait_until(lambda: len(processes("-P")) <= before)


def test_what_hangs_ends_in_time_with_all_that_it_started():
    mark = f"hang-{os.getpid()}"
    with pytest.raises(DeadlineError, match=r"the guest did not end within 1\.5 s"):
        run("hang", mark, jail.Limits(seconds=1.5))
    assert wait_until(lambda: not processes(mark))


def test_what_an_inmate_leaves_behind_ends_with_it():
    mark = f"left-{os.getpid()}"
    assert run("leave", mark) == "done"
    assert wait_until(lambda: not processes(mark))


@pytest.mark.parametrize(
    ("path", "room"), [("/tmp", SMALL.files), ("/dev/shm", jail.walls.SHARED_MEMORY)]
)
def test_no_disk_is_filled(path, room):
    assert 0 < run("fill", path) <= room


def test_files_are_limited():
    assert run("large_file", SMALL.files - MIB) == "done"
    assert run("large_file", SMALL.files + MIB) == "OSError"


def test_memory_is_limited_for_each_and_for_all():
    assert run("allocate", 13 * jail.GIB) == "OSError"
    with pytest.raises(MemoryLimitError, match="the guest took more than 512 MiB of memory"):
        run("hoard", 120 * MIB)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[]",
        '{"result": 1, "more": 2}',
        '{"result": NaN}',
        '{"wrong": 1}',
        '{"error": "why"}',
        '{"result": 1}{"result": 2}',
        "[" * 100_000,
        '{"result": ' + "1" * 100_000 + "}",
        "\udcff\x00".encode("utf-8", "surrogatepass").decode("latin-1"),
    ],
)
def test_a_forged_answer_is_one_line_of_error(text):
    with pytest.raises(KernelError, match=r"^the guest (sent something that|ended without)") as met:
        run("forge", text)
    assert "\n" not in str(met.value)


def test_a_flood_is_cut_off():
    with pytest.raises(KernelError, match="the guest sent more than 1048576 bytes"):
        run("flood")


@pytest.mark.parametrize(
    "kind", ["InputError", "SdfgError", "GeneratedCodeError", "WrongResultError", "DeadlineError"]
)
def test_errors_keep_their_kind(kind):
    with pytest.raises(LoopbookError, match=r"^why$") as met:
        run("fail_with", kind)
    assert type(met.value).__name__ == kind


@pytest.mark.parametrize("kind", ["BookError", "JailError", "FarmError"])
def test_of_what_lies_outside_an_inmate_can_say_nothing(kind):
    with pytest.raises(KernelError, match=r"^why$"):
        run("fail_with", kind)


def test_what_an_inmate_says_is_cleaned():
    with pytest.raises(KernelError) as met:
        run("fail", "two\nlines \x1b[31mred\x07" + "x" * 1000)
    words = str(met.value)
    assert words.startswith("ValueError: two lines �[31mred�")
    assert len(words) <= 300


def test_a_command_that_gets_into_a_build_finds_nothing(tmp_path):
    """Line 1 of the attack, with nothing in its way but the jail."""
    secret, mark = tmp_path / "secret", tmp_path / "mark"
    secret.write_text("token")
    command = f"{{ id -u; cat {secret}; touch {mark}; echo over; }} >/tmp/left 2>&1"
    text = json.dumps(json.loads(text_of(product)) | {"name": f"nest$({command})"})
    said = run("build", [text, "/tmp/left"])
    assert said.startswith(f"{USER}\n")  # it ran
    assert said.count("No such file or directory") == 2
    assert said.endswith("over\n")
    assert not mark.exists()


def test_a_jail_ends_with_whoever_made_it():
    mark = f"orphan-{os.getpid()}"
    code = (
        "from pathlib import Path\nfrom loopbook.toolchain import jail\n"
        f"jail.call('jail_jobs:hang', {mark!r}, modules=[Path({str(HERE)!r})])\n"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as maker:
        assert wait_until(lambda: processes(mark))
        maker.kill()
    assert wait_until(lambda: not processes(mark))


def test_a_death_is_an_error():
    with pytest.raises(KernelError, match="the guest ended without an answer"):
        run("die", signal.SIGSEGV)


def test_without_bubblewrap_the_message_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    jail.check.cache_clear()
    with pytest.raises(JailError, match="apt-get install bubblewrap"):
        run("echo")


def test_where_the_kernel_refuses_nothing_is_run(monkeypatch, tmp_path):
    refusing = tmp_path / "bwrap"
    refusing.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    )
    refusing.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    jail.check.cache_clear()
    with pytest.raises(JailError, match=r"No permissions to .* allow user namespaces") as met:
        run("echo")
    assert isinstance(met.value, LoopbookError)
    assert "\n" not in str(met.value)
    jail.check.cache_clear()


def test_a_home_folder_is_never_shown(monkeypatch):
    monkeypatch.setenv("HOME", str(Path(sys.prefix) / "home"))
    with pytest.raises(JailError, match="where a home folder is"):
        run("echo")
