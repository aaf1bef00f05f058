"""The exceptions that lab programs print without a trace."""


class LabError(Exception):
    """Something a person can act on: the text names the object, the attempt and the reason."""


class LabDeadEnd(LabError):
    """Waiting longer cannot help: what was waited for has ended."""
