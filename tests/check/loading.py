"""Loads a program without .py in its name as a module: for the tests of the checks."""

import importlib.machinery
import importlib.util
import os


def load(name):
    """name: relative to this folder."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    loader = importlib.machinery.SourceFileLoader(os.path.basename(name), path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module
