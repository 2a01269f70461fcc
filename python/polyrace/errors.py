"""What the package raises. Nothing in it ends the process."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .verdict import Verdict


class PolyraceError(Exception):
    """Base of everything that the package raises, besides TypeError for a wrong call."""


class InputError(PolyraceError):
    """A text or launch description that cannot be read: says where and why."""

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0):
        self.message, self.file, self.line, self.column = message, file, line, column
        place = file + (f":{line}:{column}" if line else "")
        super().__init__(f"{place}: {message}" if place else message)


class InternalError(PolyraceError):
    """A mistake of ours. Please report it with the input that the message names."""


class LibraryError(PolyraceError):
    """The native library cannot be loaded or does not fit this package."""


class Interrupted(PolyraceError):
    """The analysis was cancelled (polyrace.interrupt()); there is no verdict."""


class RaceError(PolyraceError):
    """policy="error": a launch races, or with strict=True was not decided."""

    def __init__(self, message: str, verdict: "Verdict | None" = None):
        self.verdict = verdict
        super().__init__(message)
