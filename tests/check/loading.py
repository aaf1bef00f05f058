"""Loads a check, a program without .py in its name, as a module: for the tests of the checks."""

import importlib.machinery
import importlib.util
import os


def load(name):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module
