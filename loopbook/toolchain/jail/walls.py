"""The walls of a jail: what bubblewrap is told to show, and to keep away."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from loopbook.errors import JailError
from loopbook.toolchain.compiler import find_compiler
from loopbook.toolchain.jail.inmate import USER, main

PROGRAM = "bwrap"

PURPOSE = "code from strangers is built and run only in a jail"

PACKAGE = Path(__file__).parents[2]

SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Besides /usr; where these are links into it, they are links inside too."""

CONFIGURATION = ("/etc/alternatives", "/etc/ld.so.cache")
"""How the system finds its libraries."""

READ_ONLY = ("--remount-ro", "/dev", "--remount-ro", "/")
"""Nothing can be written but in the folders that are made for that."""

SHARED_MEMORY = 64 << 20

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "USER": "nobody",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
}

KEPT = (
    "LOOPBOOK_CXX",
    "LOOPBOOK_MARCH",
    "OMP_NUM_THREADS",
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
    "OPENBLAS_NUM_THREADS",
)
"""Variables that change how fast code is, or whether it is right."""

_HARMLESS = re.compile(r"[A-Za-z0-9_.,:+/{}()-]{1,200}")


@dataclass(frozen=True)
class Prison:
    """Walls for one process.

    Attributes:
        words: bubblewrap's, before the command.
        descriptors: that it needs.
    """

    words: tuple[str, ...]
    descriptors: tuple[int, ...]

    def start(
        self, command: Sequence[str], orders: IO[bytes], doors: Sequence[int] = ()
    ) -> subprocess.Popen[bytes]:
        """Start a command inside, with `orders` as its input, and these descriptors open."""
        return subprocess.Popen(
            [*self.words, "--", *command],
            stdin=orders,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(*self.descriptors, *doors),
            env={},
            cwd="/",
            start_new_session=True,
        )


@contextmanager
def closed(files: int, modules: Sequence[Path]) -> Iterator[Prison]:
    """Walls around an unprivileged user in namespaces of its own.

    Args:
        files: size of its temporary folder, bytes.
        modules: folders that Python finds modules in, besides our own.

    Raises:
        JailError: there is no bubblewrap, or a home folder would be shown.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise JailError(f"{PURPOSE}: install bubblewrap ('apt-get install bubblewrap')")
    common = (
        program,
        *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
        *("--unshare-cgroup-try", "--die-with-parent", "--new-session", "--hostname", "jail"),
        *("--cap-drop", "ALL"),
    )
    # Python may be installed below /tmp: what is shown comes after what is empty.
    rest = (*_system(), *_own(files), *_shown(modules), *READ_ONLY, *_environment(modules))
    if os.geteuid():
        yield Prison((*common, *_renamed(), *rest), ())
        return
    with _namespace() as descriptor:
        yield Prison((*common, *_changeable(descriptor), *rest), (descriptor,))


def inmate() -> list[str]:
    """The command for `loopbook.toolchain.jail.inmate`."""
    return [sys.executable, "-P", "-c", f"from {main.__module__} import main; main()"]


def _renamed() -> list[str]:
    """The user becomes nobody, and can make no further namespaces, in which he would be root."""
    own = ["--unshare-user", "--disable-userns"]
    return [*own, "--uid", str(USER), "--gid", str(USER)]


def _changeable(descriptor: int) -> list[str]:
    """Root of a user namespace; the inmate becomes nobody itself (see `_namespace`)."""
    rights = [word for right in ("SETUID", "SETGID") for word in ("--cap-add", f"CAP_{right}")]
    return ["--userns", str(descriptor), *rights]


_HOLDER = """
echo
read mapped
/bin/sh -c 'echo 0 >/proc/sys/user/max_user_namespaces' && echo
read over
"""
"""Waits in a new user namespace until it has its users, then forbids to make any more of them. (A
shell that was started before there were users may not.)"""


@contextmanager
def _namespace() -> Iterator[int]:
    """A user namespace with root and nobody, whose nobody is nobody outside too: the kernel does
    not count the processes of root, by whatever number a jail knows him.

    Raises:
        JailError: the system allows none.
    """
    with subprocess.Popen(
        ["/usr/bin/unshare", "--user", "/bin/sh", "-c", _HOLDER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        env={},
        cwd="/",
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        try:
            descriptor = -1
            if holder.stdout.read(1):
                for users in ("uid_map", "gid_map"):
                    text = f"0 0 1\n{USER} {USER} 1\n"
                    Path(f"/proc/{holder.pid}/{users}").write_text(text)
                descriptor = os.open(f"/proc/{holder.pid}/ns/user", os.O_RDONLY)
                holder.stdin.write(b"\n")
            if descriptor < 0 or not holder.stdout.read(1):
                raise JailError(f"{PURPOSE}, and this system allows no user namespaces")
            yield descriptor
        except OSError as error:
            raise JailError(f"{PURPOSE}, which this system refuses: {error.strerror}") from None
        finally:
            holder.kill()
            if descriptor >= 0:
                os.close(descriptor)


def _system() -> list[str]:
    words = ["--ro-bind", "/usr", "/usr"]
    for path in SYSTEM:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    for path in CONFIGURATION:
        words += [*_above(Path(path)), "--ro-bind-try", path, path]
    return words


def _shown(modules: Sequence[Path]) -> list[str]:
    """Python, our package and what it imports, and the compiler, wherever they are."""
    wanted = [Path(sys.base_prefix), Path(sys.prefix), *map(Path, site.getsitepackages())]
    if site.ENABLE_USER_SITE:
        wanted.append(Path(site.getusersitepackages()))
    compiler = find_compiler().path
    wanted += [compiler.parent, compiler.resolve().parent.parent, PACKAGE, *modules]
    words: list[str] = []
    shown = [Path("/usr"), *map(Path, SYSTEM)]
    for path in wanted:
        path = Path(os.path.abspath(path))
        if not path.is_dir() or any(path.is_relative_to(other) for other in shown):
            continue
        if any(home.is_relative_to(path) for home in _homes()):
            raise JailError(f"{PURPOSE}, which would show it {path}, where a home folder is")
        words += [*_above(path), "--ro-bind", str(path), str(path)]
        shown.append(path)
    return words


def _homes() -> list[Path]:
    homes = [pwd.getpwuid(os.getuid()).pw_dir, os.environ.get("HOME") or "/nowhere"]
    return [Path(os.path.abspath(home)) for home in homes]


def _above(path: Path) -> list[str]:
    """Empty folders on the way to a path; bubblewrap's own ones are closed to nobody."""
    ways = [str(way) for way in reversed(path.parents) if way != Path("/")]
    return [word for way in ways for word in ("--perms", "0755", "--dir", way)]


def _own(files: int) -> list[str]:
    def small(size: int, path: str) -> list[str]:
        return ["--perms", "1777", "--size", str(size), "--tmpfs", path]

    kernel = ["--proc", "/proc", "--dev", "/dev", *small(SHARED_MEMORY, "/dev/shm")]
    return [*kernel, *small(files, "/tmp"), "--chdir", "/tmp"]


def _environment(modules: Sequence[Path]) -> list[str]:
    values = dict(ENVIRONMENT)
    values["PYTHONPATH"] = os.pathsep.join(map(str, [PACKAGE.parent, *modules]))
    for name in KEPT:
        value = os.environ.get(name, "")
        if _HARMLESS.fullmatch(value):
            values[name] = value
    return ["--clearenv", *(word for pair in values.items() for word in ("--setenv", *pair))]
