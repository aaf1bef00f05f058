"""The exceptions that lab programs print without a traceback."""


class LabError(Exception):
    """An error that a person can act on: the text names the object, the attempt and the reason."""


class LabDeadEnd(LabError):
    """Waiting longer cannot help: what the program waited for has ended."""
