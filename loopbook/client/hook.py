"""Gives docc the targets ``loopbook`` and ``loopbook-openmp`` as soon as docc is there.

``import loopbook`` must not import docc, which takes a second. So unless docc has been imported
already, this waits on ``sys.meta_path`` for docc's target registry and registers right after it.
"""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

REGISTRY = "docc.compiler.target_registry"

TARGETS = {"loopbook": "sequential", "loopbook-openmp": "openmp"}
"""docc target to the target that recipes are looked up for."""


def install() -> None:
    """Register the targets now or when docc gets imported. Calling it again changes nothing."""
    registry = sys.modules.get(REGISTRY)
    if registry is not None:
        _register(registry)
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    """Steps aside for every module but docc's registry."""

    def find_spec(
        self, fullname: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != REGISTRY:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    """docc's own loader, and the registration behind it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _register(module)

    def __getattr__(self, name: str) -> Any:  # what docc's own loader knows besides (sources)
        return getattr(self._loader, name)


def _register(registry: ModuleType) -> None:
    for name, target in TARGETS.items():
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
