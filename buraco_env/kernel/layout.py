"""Rows of small ints in named pieces: what observations, states and features are made of."""

from __future__ import annotations

from typing import Any, NamedTuple


class Piece(NamedTuple):
    """A named part of a row: `row[piece.slice].reshape(piece.shape)`, times `scale` for a network."""

    name: str
    slice: slice
    shape: tuple[int, ...]
    scale: float
    meaning: str


class Layout(tuple[Piece, ...]):
    """The pieces of a row, in order; `layout["hand"]` is a piece by name, `layout.size` the length of the row."""

    @property
    def size(self) -> int:
        return int(self[-1].slice.stop)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            for piece in self:
                if piece.name == key:
                    return piece
            raise KeyError(f"no piece {key!r}; pieces: {', '.join(piece.name for piece in self)}")
        return super().__getitem__(key)


def make_layout(pieces: list[tuple[str, tuple[int, ...], float, str]]) -> Layout:
    """Pieces laid end to end: (name, shape, scale, meaning)."""
    made, at = [], 0
    for name, shape, scale, meaning in pieces:
        size = 1
        for side in shape:
            size *= side
        made.append(Piece(name, slice(at, at + size), shape, scale, meaning))
        at += size
    return Layout(made)
