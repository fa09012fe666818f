"""Empty modules in the place of what nemo-gym imports at its start and does not need to speak to a resources server."""

import importlib.abc
import importlib.machinery
import importlib.metadata
import sys
import types
from unittest.mock import MagicMock

# Cluster, experiment trackers, profilers and statistics.
ABSENT = {"ray", "wandb", "mlflow", "scipy", "pandas", "numpy", "pydot", "yappi", "datasets", "pyarrow", "uvloop", "devtools"}


class _Module(types.ModuleType):
    __path__: list[str] = []

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        value = MagicMock(name=f"{self.__name__}.{name}")
        setattr(self, name, value)
        return value


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in ABSENT:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Module(spec.name)

    def exec_module(self, module):
        pass


def install() -> None:
    sys.meta_path.insert(0, _Finder())
    real = importlib.metadata.version
    importlib.metadata.version = lambda name: "0.0.0" if name in ABSENT else real(name)
