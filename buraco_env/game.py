"""One deal as a friendly object, and what one seat may see of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from buraco_env import notation, position, refusal
from buraco_env.cards import card_text
from buraco_env.kernel import actions as A
from buraco_env.kernel import batch as kernel
from buraco_env.kernel import players
from buraco_env.kernel.melds import CANASTA
from buraco_env.kernel.observe import OBSERVATION, STATE
from buraco_env.kernel.state import (
    OVER,
    STATE_DTYPE,
    Array,
    Record,
    rules_row,
)
from buraco_env.kernel.weights import NUM_WEIGHTS
from buraco_env.notation import END_REASONS, PHASES
from buraco_env.rules import Rules
from buraco_env.scratch import scratch
from buraco_env.seeds import check_seed, next_seed

_SEAT, _PHASE, _END_REASON = (STATE_DTYPE.fields[name][1] for name in ("seat", "phase", "end_reason"))  # type: ignore[index]
_MOST_DEALS = 100_000  # that resampling tries: a turn that was begun is seldom so hard to complete


class IllegalAction(ValueError):
    """An action that the rules do not allow here; the message says why. The game is unchanged."""


@dataclass(frozen=True)
class Meld:
    """A meld on the table. `kind` is "run" or "set", `cards` as text, the wild with its star; points of its cards."""

    kind: str
    cards: tuple[str, ...]
    points: int
    bonus: int

    @property
    def is_clean(self) -> bool:
        """No card of it stands as a wild."""
        return not any(card.endswith("*") for card in self.cards)

    @property
    def is_canasta(self) -> bool:
        return len(self.cards) >= CANASTA

    def __str__(self) -> str:
        return " ".join(self.cards)


def _check_scores(scores: tuple[int, int]) -> tuple[int, int]:
    """Two whole numbers that a match can have brought."""
    if len(scores) != 2 or not all(isinstance(x, int | np.integer) and abs(x) < 1_000_000 for x in scores):
        raise ValueError(f"match_scores = {scores!r} is not allowed; allowed: two ints below a million")
    return scores


class Game:
    """One deal. `rules` is a preset's name, a TOML path or a `Rules`; any rule field may be overridden by keyword.

    `starter`: the seat that begins; `match_scores`: what both teams brought from earlier deals of a match.
    Legal actions are ids; `describe` and `parse` turn them into words and back.
    """

    __slots__ = ("_array", "_legal", "_raw", "_row", "rules")

    def __init__(
        self,
        rules: str | Path | Rules = "classic",
        seed: int | None = None,
        starter: int = 0,
        *,
        match_scores: tuple[int, int] = (0, 0),
        **overrides: Any,
    ) -> None:
        self.rules = Rules.load(rules, **overrides)
        starter = self._check_seat(starter)
        self._row = rules_row(self.rules)
        self._raw = bytearray(STATE_DTYPE.itemsize)
        self._array: Array | None = None
        self._states[0].match_score[:] = _check_scores(match_scores)
        scratch().results[0].deal_seed = check_seed(seed)
        self._advance(kernel.NEW_DEAL)
        if starter:
            self._states[0].seat = self._states[0].starter = starter
            self._advance(kernel.LOOK)

    @classmethod
    def _of(cls, rules: Rules, row: Array, raw: bytearray) -> Game:
        """A game of this record's bytes, which it keeps."""
        game = cls.__new__(cls)
        game.rules, game._row, game._raw, game._array, game._legal = rules, row, raw, None, None
        return game

    @property
    def _states(self) -> Array:
        """The deal's bytes as an array of one record, made when it is first asked for: many copies never are."""
        if self._array is None:
            self._array = np.frombuffer(self._raw, STATE_DTYPE)
        return self._array

    @classmethod
    def from_position(cls, text: str, seed: int | None = None) -> Game:
        """The game of a position text; what is left out is dealt from the unseen cards by `seed`."""
        rules, record = position.read(text, check_seed(seed))
        game = cls._of(rules, rules_row(rules), bytearray(record.tobytes()))
        if not game.over and not game.legal_actions():
            if game.phase != "draw":
                raise position.PositionError(f"'phase {game.phase}': the turn could not be completed from here")
            game._states[0].phase, game._states[0].end_reason = OVER, END_REASONS.index("stock")
        return game

    @property
    def record(self) -> Record:
        """The kernel's record of the deal, hidden cards and all: for tests and tools, not for agents."""
        return self._states[0]

    def _advance(self, action: int, unguarded: bool = False) -> None:
        b = scratch()
        b.actions[0] = action
        b.options[kernel.OPTION_UNGUARDED] = unguarded
        kernel.advance(
            self._states, self._row, b.actions, b.results, b.offsets, b.legal, b.before, b.offsets_before,
            b.nothing, b.nothing, b.work, b.lists, b.options, 0,
        )  # fmt: skip
        self._legal: list[int] | None = b.legal[: b.offsets[1]].tolist()

    def legal_actions(self) -> list[int]:
        """The legal action ids, ascending; empty when the deal is over."""
        if self._legal is None:
            self._advance(kernel.LOOK)
        return list(self._legal or [])

    def action_mask(self) -> Array:
        """1 for each legal action: [NUM_ACTIONS] int8."""
        mask = np.zeros(A.NUM_ACTIONS, np.int8)
        mask[self.legal_actions()] = 1
        return mask

    def observation(self, seat: int | None = None) -> Array:
        """What a seat (by default the one to move) knows: [OBSERVATION.size] int8."""
        out = np.zeros(OBSERVATION.size, np.int8)
        kernel.observe_seat(self._states, self._row, self.seat if seat is None else self._check_seat(seat), out)
        return out

    def state(self) -> Array:
        """All cards and the public table (not who did what before), for a critic in training: [STATE.size] int8."""
        out: Array = np.zeros((1, STATE.size), np.int8)
        kernel.fill_states(self._states, self._row, out)
        return out.reshape(STATE.size)

    def describe(self, action: int) -> str:
        """An action in words: `meld 4H 5H 6H`."""
        if isinstance(action, bool) or not isinstance(action, int | np.integer) or not 0 <= action < A.NUM_ACTIONS:
            raise ValueError(f"{action!r} is no action id: ids are 0 to {A.NUM_ACTIONS - 1}")
        return notation.action_text(self._states[0], self._row[0], int(action))

    def parse(self, text: str) -> int:
        """The id of an action in words; a ValueError says what can't be read."""
        if not isinstance(text, str):
            raise ValueError(f"{text!r} is no text: write an action as `describe` does, such as draw or discard 7H")
        return notation.parse_action(self._states[0], self._row[0], text)

    def play(self, action: int | str) -> None:
        """Do an action, an id or words; an illegal one raises IllegalAction with the reason and changes nothing."""
        try:
            chosen = self.parse(action) if isinstance(action, str) else action
            text = self.describe(chosen)
        except ValueError as error:
            raise IllegalAction(str(error)) from None
        if chosen not in self.legal_actions():
            raise IllegalAction(f"{text}: {self._why_not(int(chosen))}")
        self._advance(int(chosen))

    def _why_not(self, action: int) -> str:
        """The reason why an action is illegal here."""
        s, kind = self._states[0], int(A.ARGS[action, A.KIND])
        if self.over:
            return "the deal is over"
        if self.phase == "draw":
            if kind not in (A.K_DRAW, A.K_TAKE):
                return "draw a card or take the pile first"
            return refusal.why_no_draw(s, self.rules, kind == A.K_TAKE)
        if kind in (A.K_DRAW, A.K_TAKE):
            return "you have drawn already"
        return refusal.why_no_meld(s, self.rules, action, self._is_move(action))

    def _is_move(self, action: int) -> bool:
        """Whether the cards and duties allow it and the guard alone refuses."""
        legal = self._legal
        self._advance(kernel.LOOK, unguarded=True)
        found, self._legal = action in (self._legal or []), legal
        return found

    def _check_seat(self, seat: int) -> int:
        if isinstance(seat, bool) or not isinstance(seat, int | np.integer) or not 0 <= seat < self.rules.num_seats:
            raise ValueError(f"seat {seat!r} is not at this table; seats: 0 to {self.rules.num_seats - 1}")
        return int(seat)

    @property
    def seat(self) -> int:
        """The seat to move."""
        return self._raw[_SEAT]

    @property
    def turn(self) -> int:
        """Turns finished so far."""
        return int(self._states[0].turn)

    @property
    def starter(self) -> int:
        """The seat that began the deal."""
        return int(self._states[0].starter)

    @property
    def phase(self) -> str:
        """`draw`, `meld`, `extra` (a morto taken after discarding is played) or `over`."""
        return PHASES[self._raw[_PHASE]]

    @property
    def over(self) -> bool:
        return self._raw[_PHASE] == OVER

    @property
    def end_reason(self) -> str | None:
        """`out`, `stock`, `turn cap`, or None while the deal goes on."""
        return END_REASONS[self._raw[_END_REASON]]

    def hand(self, seat: int) -> list[str]:
        """A seat's cards, by suit."""
        counts = self._states[0].hand[self._check_seat(seat)]
        return [card_text(card) for card, count in enumerate(counts) for _ in range(count)]

    def melds(self, team: int) -> list[Meld]:
        """A team's melds: runs by suit, then sets by rank."""
        self._check_team(team)
        names = notation.meld_names(self._states[0], team)
        values = np.zeros((len(names), 2), np.int64)
        slots = np.array([slot if kind == "run" else -1 - slot for kind, slot, _ in names], np.int64)
        kernel.meld_values(self._states, self._row, team, slots, values)
        return [Meld(kind, tuple(cards), int(p), int(b)) for (kind, _, cards), (p, b) in zip(names, values)]

    def _check_team(self, team: int) -> None:
        if isinstance(team, bool) or team not in (0, 1):
            raise ValueError(f"team {team!r} is not at this table; teams: 0 and 1")

    @property
    def pile(self) -> list[str]:
        """The discard pile, bottom to top."""
        s = self._states[0]
        return [card_text(int(card)) for card in s.pile[: s.pile_size]]

    @property
    def stock_size(self) -> int:
        return int(self._states[0].stock_size)

    @property
    def mortos_left(self) -> int:
        """Mortos on the table."""
        return int(self._states[0].mortos_left)

    def morto_taken(self, team: int) -> int:
        """How many mortos a team has taken."""
        self._check_team(team)
        return int(self._states[0].taken[team])

    def scores(self) -> tuple[int, int]:
        """Both teams' scores, from scratch, as if the deal ended here."""
        out = np.zeros(2, np.int64)
        kernel.score_of(self._states, self._row, out)
        return int(out[0]), int(out[1])

    def view(self, seat: int) -> View:
        """What a seat may know of the deal."""
        game = Game._of(self.rules, self._row, self._raw[:])
        kernel.conceal_for(game._states, self._row, self._check_seat(seat))
        return View(game, int(seat))

    def copy(self) -> Game:
        """An independent copy."""
        game = _new_game(Game)
        game.rules, game._row, game._raw, game._legal = self.rules, self._row, self._raw[:], self._legal
        game._array = None
        return game

    def __str__(self) -> str:
        """The position text, which `Game.from_position` reads back."""
        return position.write(self._states[0], self.rules)

    def __repr__(self) -> str:
        return f"<Game {self.rules}, turn {self.turn}, seat {self.seat}, {self.phase}>"

    def __getstate__(self) -> tuple[Rules, bytes]:
        return self.rules, bytes(self._raw)

    def __setstate__(self, saved: tuple[Rules, bytes]) -> None:
        self.rules = saved[0]
        self._row = rules_row(self.rules)
        self._raw, self._array, self._legal = bytearray(saved[1]), None, None


_new_game = object.__new__


class Sizes(NamedTuple):
    """How many cards lie where: hands by seat, stock, pile, mortos on the table."""

    hands: tuple[int, ...]
    stock: int
    pile: int
    mortos: int


def check_weights(weights: Array, shape: tuple[int, ...]) -> None:
    """ValueError if these are no weights of scripted players, which compiled code would read past the end of."""
    if weights.shape != shape or weights.dtype != np.int64:
        raise ValueError(f"weights must be int64 {list(shape)}, not {weights.dtype} {list(weights.shape)}")


class View:
    """What one seat may know of a deal, as perfect memory would: no other card is in it.

    `legal_actions` and `describe` are for the seat to move; cards are text, as in `Game`.
    """

    __slots__ = ("_game", "rules", "seat")

    def __init__(self, concealed: Game, seat: int) -> None:
        self._game, self.rules, self.seat = concealed, concealed.rules, seat

    @property
    def hand(self) -> list[str]:
        """My cards, by suit."""
        return self._game.hand(self.seat)

    @property
    def melds(self) -> tuple[list[Meld], list[Meld]]:
        """The melds of team 0 and of team 1."""
        return self._game.melds(0), self._game.melds(1)

    @property
    def team(self) -> int:
        return self.seat % 2

    @property
    def to_move(self) -> int:
        """The seat that decides."""
        return self._game.seat

    @property
    def phase(self) -> str:
        return self._game.phase

    @property
    def turn(self) -> int:
        """Turns finished so far."""
        return self._game.turn

    @property
    def pile(self) -> list[str]:
        """The discard pile, bottom to top."""
        return self._game.pile

    @property
    def sizes(self) -> Sizes:
        s = self._game.record
        hands = tuple(int(s.hand_size[seat]) for seat in range(self.rules.num_seats))
        return Sizes(hands, int(s.stock_size), int(s.pile_size), int(s.mortos_left))

    @property
    def waiting(self) -> tuple[bool, ...]:
        """By seat: it took a morto by its discard and has not played since."""
        return tuple(bool(self._game.record.waiting[seat]) for seat in range(self.rules.num_seats))

    @property
    def match_scores(self) -> tuple[int, int]:
        """What team 0 and team 1 brought from earlier deals of the match."""
        first, second = self._game.record.match_score.tolist()
        return first, second

    def known(self, seat: int) -> list[str]:
        """Cards that everybody knows to be in a seat's hand."""
        return self._counted(self._game.record.known, seat)

    def discarded(self, seat: int) -> list[str]:
        """Everything a seat has discarded so far."""
        return self._counted(self._game.record.discarded, seat)

    def _counted(self, counts: Array, seat: int) -> list[str]:
        row = counts[self._game._check_seat(seat)]
        return [card_text(card) for card, count in enumerate(row) for _ in range(count)]

    @property
    def must_use(self) -> str | None:
        """The card that must be melded since the pile was taken."""
        top = int(self._game.record.top)
        return card_text(top) if top >= 0 else None

    def morto_taken(self, team: int) -> int:
        """How many mortos a team has taken."""
        return self._game.morto_taken(team)

    @property
    def observation(self) -> Array:
        """The seat's observation: [OBSERVATION.size] int8."""
        return self._game.observation(self.seat)

    def legal_actions(self) -> list[int]:
        """The legal action ids if this seat is to move, else none."""
        return self._game.legal_actions() if self.to_move == self.seat else []

    def describe(self, action: int) -> str:
        """An action in words."""
        return self._game.describe(action)

    def resample(self, seed: int | None = None) -> Game:
        """A game that this seat cannot tell from the real one: the unseen cards dealt anew, uniformly, by `seed`.

        Where another seat is in the middle of its turn, only deals count in which it can complete that turn.
        """
        mine, stream, pool = self._game, check_seed(seed), scratch().pool
        any_deal_will_do = mine.over or mine.phase == "draw" or mine.seat == self.seat
        for _ in range(_MOST_DEALS):
            game = Game._of(self.rules, mine._row, mine._raw[:])
            kernel.resample_for(game._states, game._row, self.seat, stream, pool)
            if any_deal_will_do or game.legal_actions():
                return game
            stream = next_seed(stream)
        raise RuntimeError(f"in {_MOST_DEALS} deals seat {self.to_move} could never complete its turn:\n{game}")

    def values(self, weights: Array) -> Array:
        """What scripted players with `weights` [W, NUM_WEIGHTS] think of each legal action: [W, K] int64, tenths."""
        legal, b = np.array(self.legal_actions(), np.int64), scratch()
        check_weights(weights, (len(weights), NUM_WEIGHTS))
        out = np.zeros((len(weights), len(legal)), np.int64)
        players.values_of(self._game._states, self._game._row, legal, weights, out, b.work, b.lists)
        return out

    def compare(self, actions: Array, seeds: Array, weights: Array) -> Array:
        """My team's lead at the end of the deal after each action: [M, K] int64, for the seat to move.

        The unseen cards are dealt anew for each of `seeds` [M] int64, the same for all `actions` [K], and scripted
        players with `weights` [NUM_WEIGHTS] play on in all seats (`buraco_env.kernel.weights`).
        """
        check_weights(weights, (NUM_WEIGHTS,))
        legal = self.legal_actions()
        for action in np.asarray(actions).tolist():
            if action not in legal:
                raise IllegalAction(f"{action!r} is not legal for seat {self.seat} here; legal: {legal}")
        b, states = scratch(), np.zeros(3, STATE_DTYPE)
        states[0] = self._game._states[0]
        leads = np.zeros((len(seeds), len(actions)), np.int64)
        players.compare(
            states, self._game._row, np.asarray(actions, np.int64), np.asarray(seeds, np.int64),
            np.stack([weights, weights]), leads, b.pool, b.list, b.work, b.lists,
        )  # fmt: skip
        return leads
