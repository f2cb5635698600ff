"""What is timed, a module for each family; every module says what it has in WORKLOADS, by name."""
import importlib
import pathlib


def all_workloads():
    found = {}
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        if path.stem not in ("__init__", "common"):
            found.update(importlib.import_module(f"{__name__}.{path.stem}").WORKLOADS)
    return found
