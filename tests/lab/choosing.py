"""Which cases `run` takes, and in what order. Pure: what is imported is loaded by load_cases."""

import argparse
import importlib
import os
import random

import labs

FOLDER = "cases"


def load_cases(here):
    """Imports every file of cases/SUBJECT/: they register their cases (lab_case.lab_test)."""
    for subject in subjects(here):
        for file in sorted(os.listdir(os.path.join(here, FOLDER, subject))):
            if file.endswith(".py"):
                importlib.import_module(f"{FOLDER}.{subject}.{file[:-3]}")


def subjects(here):
    folder = os.path.join(here, FOLDER)
    return sorted(name for name in os.listdir(folder)
                  if os.path.isdir(os.path.join(folder, name)) and name.isalpha())


def chosen(cases, words, heads=None, soak=False):
    """heads: "one", "several", or None: one without words, else whatever the words say. A word that
    is a subject is not looked for in names."""
    known = {case.subject for case in cases} | {case.place for case in cases}
    if heads is None:
        heads = "any" if words else "one"

    def wanted(case):
        return any(word in (case.subject, case.place) if word in known else word in case.name
                   for word in words)
    return [case for case in cases
            if case.soak == soak and (not words or wanted(case))
            and (heads == "any" or case.kind.several_heads == (heads == "several"))]


def unmatched(cases, words):
    """The words that no case, long or not, knows."""
    return [word for word in words
            if not chosen(cases, [word], "any") and not chosen(cases, [word], "any", soak=True)]


def in_order(cases, seed=None):
    """Lab by lab, so that each is made once. seed: in a random order within each lab."""
    cases = list(cases)
    if seed is not None:
        random.Random(seed).shuffle(cases)
    return sorted(cases, key=lambda case: (labs.ORDER.index(case.kind), case.ends_lab))


def lane_of(text):
    """"2/3" -> (2, 3)."""
    lane, _, lanes = text.partition("/")
    if not (lane.isdigit() and lanes.isdigit() and 1 <= int(lane) <= int(lanes)):
        raise argparse.ArgumentTypeError(f"'{text}' is no I/N with 1 <= I <= N")
    return int(lane), int(lanes)
