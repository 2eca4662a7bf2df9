"""Gives docc our targets, ``loopbook`` and the like (`loopbook.targets`), as soon as docc is there.

``import loopbook`` must not import docc, which takes a second. So unless docc has been imported
already, this waits on ``sys.meta_path`` for docc's target registry and registers right after it.

It waits for docc's Python programs too: this is the one place where docc's own code is changed.
docc keeps what it compiled by types and equal sizes alone, so a program would be run for arguments
that overlap, lie otherwise or have other sizes of 1 than those that it was compiled for. Calls of
programs *for our targets* are answered as those of `loopbook.native` are; all others are docc's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from loopbook.targets import TARGETS

REGISTRY = "docc.compiler.target_registry"
PROGRAMS = "docc.python.python_program"


def plugins() -> dict[str, str]:
    """docc target to the target that recipes are looked up for."""
    return {target.plugin: target.name for target in TARGETS.values()}


def install() -> None:
    """Register the targets now or when docc gets imported. Calling it again changes nothing."""
    for name, then in ((REGISTRY, _register), (PROGRAMS, _reroute)):
        module = sys.modules.get(name)
        if module is not None:
            then(module)
        elif not any(isinstance(f, _Finder) and f.name == name for f in sys.meta_path):
            sys.meta_path.insert(0, _Finder(name, then))


Then = Callable[[ModuleType], None]


class _Finder(MetaPathFinder):
    """Steps aside for every module but the one that it waits for."""

    def __init__(self, name: str, then: Then) -> None:
        self.name = name
        self._then = then

    def find_spec(
        self, fullname: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._then)
        return spec


class _Loader(Loader):
    """docc's own loader, and what is to be done after it."""

    def __init__(self, loader: Loader, then: Then) -> None:
        self._loader = loader
        self._then = then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._then(module)

    def __getattr__(self, name: str) -> Any:  # what docc's own loader knows besides (sources)
        return getattr(self._loader, name)


def _register(registry: ModuleType) -> None:
    for name, target in plugins().items():
        registry.register_target_overrides(  # type: ignore[attr-defined]
            name,
            schedule_fn=_Late("schedule", target),
            compile_fn=_Late("build", target),
            expand_fn=_Late("expand", target),
        )


class _Late:
    """A hook of a target, imported when docc first calls it."""

    def __init__(self, hook: str, target: str) -> None:
        self._hook = hook
        self._target = target

    def __call__(self, *args: Any) -> Any:
        from loopbook.client import target

        return getattr(target, self._hook)(self._target, *args)


def _reroute(programs: ModuleType) -> None:
    program = programs.PythonProgram
    theirs = program.__call__
    if getattr(theirs, "rerouted", False):
        return
    their_compile = program.compile

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        ours = _answering(self)
        return theirs(self, *args, **kwargs) if ours is None else ours(*args, **kwargs)

    def compile(self: Any, *args: Any, output_folder: str | None = None) -> Any:
        ours = _answering(self)
        if ours is None:
            return their_compile(self, *args, output_folder=output_folder)
        return ours.compiled(args, None if output_folder is None else Path(output_folder))

    call.rerouted = True  # type: ignore[attr-defined]
    program.__call__, program.compile = call, compile


def _answering(program: Any) -> Any:
    """What answers the calls of a program for our targets; None for other programs, and where docc
    is to record what it does, in its own folder."""
    options = program.options
    if options.target not in plugins() or options.instrumentation_mode or options.capture_args:
        return None
    ours = program.__dict__.get("_loopbook")
    if ours is None:
        from loopbook.client import target

        ours = program.__dict__.setdefault("_loopbook", target.dispatcher(program))
    return ours
