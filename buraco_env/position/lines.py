"""The lines of a position text as items, each given out once."""

from __future__ import annotations

import re
from collections.abc import Callable

_WITHOUT_COLON = ("rules", "seat", "starter", "turn", "phase")


class PositionError(ValueError):
    """A position text that can't be; the message holds the line that is wrong."""


class Lines:
    """The items of a text, key -> value."""

    def __init__(self, text: str) -> None:
        self._items: dict[str, str] = {}
        for line in text.splitlines():
            for key, value in _split(re.sub(r"\([^)]*\)", "", line).strip()):
                if key in self._items:
                    raise PositionError(f"{line.strip()!r}: {key!r} is given twice")
                self._items[key] = value

    def __contains__(self, key: str) -> bool:
        return key in self._items

    def pop(self, key: str, default: str = "") -> str:
        """The value of an item, which counts as read."""
        return self._items.pop(key, default)

    def read(self, key: str, take: Callable[[str], None]) -> None:
        """Give an item's value, if it is there, to a function; what that finds wrong becomes an error with the line."""
        if key not in self._items:
            return
        value = self._items.pop(key)
        try:
            take(value)
        except PositionError:
            raise
        except ValueError as error:
            raise PositionError(f"'{key}: {value}': {error}") from None

    def number(self, key: str, default: int, allowed: range) -> int:
        """An item that is a whole number."""
        value = self._items.pop(key, str(default))
        found = whole_number(value)
        if found not in allowed:
            raise PositionError(f"'{key} {value}': allowed: {allowed.start} to {allowed.stop - 1}")
        return found

    def check_all_read(self) -> None:
        for key, value in self._items.items():
            raise PositionError(f"'{key}: {value}': there is no such item at this table")


def _split(line: str) -> list[tuple[str, str]]:
    """The items of a line as (key, value): `seat 0   starter 2` are two, `hand 0: …` is one."""
    if not line:
        return []
    if ":" in line:
        parts = re.split(r"\s+(?=waiting\s*:)", line)
        return [(" ".join(key.split()), value.strip()) for key, _, value in (part.partition(":") for part in parts)]
    found = []
    for part in [line] if line.startswith(("rules", "phase")) else re.split(r"\s{2,}|(?<=\d)\s+(?=[a-z])", line):
        key, _, value = part.partition(" ")
        if key not in _WITHOUT_COLON:
            raise PositionError(f"{line!r}: an item is written KEY: VALUE, as in `hand 0: 3H JK`")
        found.append((key, value.strip()))
    return found


def whole_number(text: str) -> int:
    """The number that a few digits are, else -1."""
    return int(text) if re.fullmatch(r"\d{1,9}", text, re.ASCII) else -1


def two_numbers(value: str) -> list[int]:
    """Two whole numbers of up to six digits, team 0's and team 1's."""
    words = value.split()
    if len(words) != 2 or not all(re.fullmatch(r"-?\d{1,6}", word, re.ASCII) for word in words):
        raise ValueError("write two whole numbers, team 0's and team 1's")
    return [int(word) for word in words]
