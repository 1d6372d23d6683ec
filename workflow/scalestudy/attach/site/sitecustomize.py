"""Python imports this module at its start if the launcher has put its folder on PYTHONPATH. Without our variable,
it only runs the site's own module of this name."""

import importlib
import importlib.machinery
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def chain() -> None:
    """Run the site's own sitecustomize, which this one hides."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def attach() -> None:
    """Load our package by its path, and call begin()."""
    folder = os.path.dirname(HERE)
    spec = importlib.util.spec_from_file_location(
        "scalestudy_attach", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["scalestudy_attach"] = package
    spec.loader.exec_module(package)
    importlib.import_module("scalestudy_attach.begin").begin()


if os.environ.get("SCALESTUDY_ATTACH"):
    try:
        attach()
    except Exception as error:  # the user's script runs even if attaching fails
        sys.stderr.write(f"scalestudy: not attached: {type(error).__name__}: {error}\n")
chain()
