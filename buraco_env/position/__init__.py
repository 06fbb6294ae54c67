"""The position text: a deal as lines that a person can read and write (`design.md` §4).

One item a line, in any order; what is left out is dealt at random from the unseen cards.
A team whose melds stand without an `opening` item counts as opened, whatever they are worth now.
"""

from buraco_env.position.lines import PositionError
from buraco_env.position.reader import read
from buraco_env.position.writer import write

__all__ = ["PositionError", "read", "write"]
