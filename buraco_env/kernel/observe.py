"""What a seat may know, and the full state, as rows of small ints in named pieces.

Seats are relative in an observation: me, next, partner, previous (with two seats: me, next). Numbers that outgrow an
int8 are split into hundreds and rest (`value = 100 * hundreds + rest`). A piece's `scale` brings it to about 0 to 1.
"""

from __future__ import annotations

from buraco_env.cards import NUM_CARD_TYPES
from buraco_env.kernel.jit import copy_field, kernel
from buraco_env.kernel.layout import make_layout
from buraco_env.kernel.state import (
    HISTORY,
    MAX_SEATS,
    NUM_TEAMS,
    OVER,
    RULES_DTYPE,
    RUN_SLOTS,
    SET_SLOTS,
    STATE_DTYPE,
    Array,
    Record,
    team_of,
)
from buraco_env.rules import RULE_FIELDS

_TYPES = NUM_CARD_TYPES
_PHASES = 3
_RUN_PARTS = "low and high position, kind of wild (1 joker, 2 to 5 a two of C D H S), its position"
_SET_PARTS = "naturals of C D H S, kind of wild"

# pieces alike in an observation (me first, my team first) and in the full state (seat 0 first, team 0 first)
_TABLE: list[tuple[str, tuple[int, ...], float, str]] = [
    ("runs", (NUM_TEAMS, RUN_SLOTS, 4), 1 / 14, f"run slots by team, six a suit: {_RUN_PARTS}"),
    ("sets", (NUM_TEAMS, SET_SLOTS, 5), 1 / 2, f"set slots by team, four a rank: {_SET_PARTS}"),
]
_PUBLIC: list[tuple[str, tuple[int, ...], float, str]] = [
    ("pile", (_TYPES,), 1 / 2, "cards of each type in the discard pile"),
    ("pile_top", (_TYPES,), 1, "1 for the card on top of the pile"),
    ("must_use", (_TYPES,), 1, "1 for the card that must be melded since the pile was taken"),
    ("single", (_TYPES,), 1, "1 for the card that came as a pile of one and may go back only with a twin in hand"),
    ("bottom", (_TYPES,), 1 / 2, "cards seen going to the bottom of the stock and not drawn yet"),
    ("hand_sizes", (MAX_SEATS,), 1 / 11, "cards in each hand"),
    ("waiting", (MAX_SEATS,), 1, "the seat took a morto by discarding and has not played since"),
    ("starter", (MAX_SEATS,), 1, "1 for the seat that started the deal"),
    ("taken", (NUM_TEAMS,), 1, "mortos taken"),
    ("clean", (NUM_TEAMS,), 1 / 2, "clean canastas"),
    ("dirty", (NUM_TEAMS,), 1 / 2, "dirty canastas"),
    ("opened", (NUM_TEAMS,), 1, "the first meld has its minimum"),
    ("open_score", (NUM_TEAMS, 2), 1 / 10, "points lying open: hundreds, rest"),
    ("match_score", (NUM_TEAMS, 2), 1 / 10, "score of the match before this deal: hundreds, rest"),
    ("phase", (_PHASES,), 1, "draw, meld, extra"),
    ("stock_size", (1,), 1 / 50, "cards in the stock"),
    ("pile_size", (1,), 1 / 20, "cards in the pile"),
    ("mortos_left", (1,), 1 / 2, "mortos on the table"),
    ("turn", (2,), 1 / 50, "turns finished: hundreds, rest"),
    ("opening", (1,), 1, "the first meld is below its minimum"),
    ("target", (2,), 1 / 20, "points that end a match: hundreds, rest"),
    ("rules", (len(RULE_FIELDS),), 1 / 5, "the rule fields in order, each in its unit (`RULE_UNITS`)"),
]
OBSERVATION = make_layout(
    [
        ("hand", (_TYPES,), 1 / 2, "my cards, by type"),
        ("unseen", (_TYPES,), 1 / 2, "cards that may be in others' hands unknown to me, in the stock or in mortos"),
        ("known", (MAX_SEATS, _TYPES), 1 / 2, "cards that everybody knows to be in a hand"),
        ("discarded", (MAX_SEATS, _TYPES), 1 / 2, "cards each seat has discarded so far"),
        *_TABLE,
        *_PUBLIC,
        ("history", (HISTORY, 3), 1 / 10, "last public actions, newest first: seat (1 me, 0 none), kind + 1, card + 1"),
    ]
)
COMING = 4
STATE = make_layout(
    [
        ("hands", (MAX_SEATS, _TYPES), 1 / 2, "all hands"),
        ("stock", (_TYPES,), 1 / 2, "cards in the stock"),
        ("coming", (COMING, _TYPES), 1, "1 for the card that will be drawn next, after it, …"),
        ("mortos", (2, _TYPES), 1 / 2, "the morto to be taken next; the others"),
        *_TABLE,
        *_PUBLIC,
        ("seat", (MAX_SEATS,), 1, "1 for the seat to move"),
    ]
)

_HAND, _UNSEEN, _KNOWN, _DISCARDED, _HISTORY = (
    OBSERVATION[name].slice.start for name in ("hand", "unseen", "known", "discarded", "history")
)
_HANDS, _STOCK, _COMING, _MORTOS, _SEAT = (
    STATE[name].slice.start for name in ("hands", "stock", "coming", "mortos", "seat")
)
_OBSERVATION_TABLE, _OBSERVATION_PUBLIC = OBSERVATION["runs"].slice.start, OBSERVATION["pile"].slice.start
_STATE_TABLE, _STATE_PUBLIC = STATE["runs"].slice.start, STATE["pile"].slice.start
_PUBLIC_LAYOUT = make_layout(_PUBLIC)
(_PILE, _PILE_TOP, _, _, _BOTTOM, _SIZES, _WAITING, _STARTER, _TAKEN, _CLEAN, _DIRTY, _OPENED,
 _OPEN_SCORE, _MATCH_SCORE, _PHASE, _STOCK_SIZE, _PILE_SIZE, _MORTOS_LEFT, _TURN, _OPENING, _TARGET, _RULES) = (
    piece.slice.start for piece in _PUBLIC_LAYOUT
)  # fmt: skip
_NUM_RULES = len(RULE_FIELDS)


_OFFSET = {name: STATE_DTYPE.fields[name][1] for name in STATE_DTYPE.names}  # type: ignore[index, union-attr]
(_S_HAND, _S_KNOWN, _S_DISCARDED, _S_RUN, _S_SET, _S_PILE_COUNT, _S_BOTTOM_COUNT) = (
    _OFFSET[name] for name in ("hand", "known", "discarded", "run", "set", "pile_count", "bottom_count")
)  # fmt: skip
_R_OBSERVED = RULES_DTYPE.fields["observed"][1]  # type: ignore[index]
_RUN_BYTES, _SET_BYTES = RUN_SLOTS * 4, SET_SLOTS * 5


@kernel
def _put_number(out: Array, at: int, value: int) -> None:
    """A number as hundreds and rest, no further than the hundreds go."""
    value = min(max(value, -12800), 12799)
    out[at] = value // 100
    out[at + 1] = value % 100


@kernel
def _put_marks(out: Array, at: int, first: int, second: int, third: int) -> None:
    """Three pieces of card types one after the other, each with 1 for one card, 0 for the others; card -1: all 0."""
    out[at : at + 3 * NUM_CARD_TYPES] = 0
    if first >= 0:
        out[at + first] = 1
    if second >= 0:
        out[at + NUM_CARD_TYPES + second] = 1
    if third >= 0:
        out[at + 2 * NUM_CARD_TYPES + third] = 1


@kernel
def _put_table(s: Record, team: int, out: Array, at: int) -> None:
    """The melds of a team, then of the other."""
    copy_field(out, at, s, _S_RUN + team * _RUN_BYTES, _RUN_BYTES)
    copy_field(out, at + _RUN_BYTES, s, _S_RUN + (1 - team) * _RUN_BYTES, _RUN_BYTES)
    copy_field(out, at + 2 * _RUN_BYTES, s, _S_SET + team * _SET_BYTES, _SET_BYTES)
    copy_field(out, at + 2 * _RUN_BYTES + _SET_BYTES, s, _S_SET + (1 - team) * _SET_BYTES, _SET_BYTES)


@kernel
def _seat_at(seat: int, index: int, seats: int) -> int:
    """The seat `index` places on; where there are only two, the empty rows of the others stand for themselves."""
    if index >= seats:
        return index
    other = seat + index
    return other - seats if other >= seats else other


@kernel
def _put_public(s: Record, r: Record, seat: int, out: Array, at: int) -> None:
    """What everybody knows and changes during a deal, from one seat's side of the table."""
    size, seats = int(s.pile_size), int(r.num_seats)
    copy_field(out, at + _PILE, s, _S_PILE_COUNT, NUM_CARD_TYPES)
    copy_field(out, at + _BOTTOM, s, _S_BOTTOM_COUNT, NUM_CARD_TYPES)
    _put_marks(out, at + _PILE_TOP, int(s.pile[size - 1]) if size else -1, int(s.top), int(s.single))
    for index in range(MAX_SEATS):
        other = _seat_at(seat, index, seats)
        out[at + _SIZES + index] = s.hand_size[other]
        out[at + _WAITING + index] = s.waiting[other]
    for index in range(NUM_TEAMS):
        team = team_of(seat) ^ index
        out[at + _TAKEN + index] = s.taken[team]
        out[at + _CLEAN + index] = s.clean[team]
        out[at + _DIRTY + index] = s.dirty[team]
        out[at + _OPENED + index] = s.opened[team]
        _put_number(out, at + _OPEN_SCORE + 2 * index, int(s.open_score[team]))
    for phase in range(_PHASES):
        out[at + _PHASE + phase] = int(int(s.phase) == phase)
    out[at + _STOCK_SIZE] = s.stock_size
    out[at + _PILE_SIZE] = size
    out[at + _MORTOS_LEFT] = s.mortos_left
    _put_number(out, at + _TURN, int(s.turn))
    out[at + _OPENING] = int(int(s.opening) >= 0)


@kernel
def _put_settled(s: Record, r: Record, seat: int, out: Array, at: int) -> None:
    """What everybody knows and does not change during a deal, from one seat's side of the table."""
    seats = int(r.num_seats)
    for index in range(MAX_SEATS):
        out[at + _STARTER + index] = int(_seat_at(seat, index, seats) == int(s.starter))
    for index in range(NUM_TEAMS):
        _put_number(out, at + _MATCH_SCORE + 2 * index, int(s.match_score[team_of(seat) ^ index]))
    _put_number(out, at + _TARGET, int(r.target))
    copy_field(out, at + _RULES, r, _R_OBSERVED, _NUM_RULES)


@kernel
def _put_history(s: Record, seat: int, seats: int, out: Array) -> None:
    """The last public actions, newest first."""
    for index in range(HISTORY):
        at, to = (int(s.last_next) + HISTORY - 1 - index) & (HISTORY - 1), _HISTORY + 3 * index
        who = int(s.last[at, 0])
        place = who - seat + (seats if who <= seat else 0)
        out[to] = place if who else 0
        out[to + 1] = s.last[at, 1]
        out[to + 2] = s.last[at, 2]


@kernel
def observe(s: Record, r: Record, seat: int, out: Array) -> None:
    """What a seat with perfect memory knows and nothing else: fills `out` [OBSERVATION.size] int8."""
    for index in range(1, MAX_SEATS):
        row = _seat_at(seat, index, int(r.num_seats)) * NUM_CARD_TYPES
        copy_field(out, _KNOWN + index * NUM_CARD_TYPES, s, _S_KNOWN + row, NUM_CARD_TYPES)
    for index in range(MAX_SEATS):
        row = _seat_at(seat, index, int(r.num_seats)) * NUM_CARD_TYPES
        copy_field(out, _DISCARDED + index * NUM_CARD_TYPES, s, _S_DISCARDED + row, NUM_CARD_TYPES)
    _put_table(s, team_of(seat), out, _OBSERVATION_TABLE)
    _put_settled(s, r, seat, out, _OBSERVATION_PUBLIC)
    update_observation(s, r, seat, out, False)


@kernel
def update_observation(s: Record, r: Record, seat: int, out: Array, melded: bool) -> None:
    """Bring the observation of a seat up to date after its own draw, pile or meld: a third of it changes."""
    for card in range(NUM_CARD_TYPES):
        out[_UNSEEN + card] = int(s.hidden[card]) + int(s.known[seat, card]) - int(s.hand[seat, card])
    copy_field(out, _HAND, s, _S_HAND + seat * NUM_CARD_TYPES, NUM_CARD_TYPES)
    copy_field(out, _KNOWN, s, _S_KNOWN + seat * NUM_CARD_TYPES, NUM_CARD_TYPES)
    if melded:
        at, team = _OBSERVATION_TABLE, team_of(seat)
        copy_field(out, at, s, _S_RUN + team * _RUN_BYTES, _RUN_BYTES)
        copy_field(out, at + 2 * _RUN_BYTES, s, _S_SET + team * _SET_BYTES, _SET_BYTES)
    _put_public(s, r, seat, out, _OBSERVATION_PUBLIC)
    _put_history(s, seat, int(r.num_seats), out)


@kernel
def full_state(s: Record, r: Record, out: Array) -> None:
    """All cards and the public table, seat 0 and team 0 first, for a critic: fills `out` [STATE.size] int8."""
    for index in range(_STATE_TABLE):
        out[index] = 0
    for seat in range(MAX_SEATS):
        for card in range(NUM_CARD_TYPES):
            out[_HANDS + seat * NUM_CARD_TYPES + card] = s.hand[seat, card]
    size = int(s.stock_size)
    for index in range(size):
        out[_STOCK + int(s.stock[index])] += 1
    for index in range(min(size, COMING)):
        out[_COMING + index * NUM_CARD_TYPES + int(s.stock[size - 1 - index])] = 1
    left = int(s.mortos_left)
    for morto in range(left):
        at = _MORTOS if morto == left - 1 else _MORTOS + NUM_CARD_TYPES
        for index in range(int(r.morto_size)):
            out[at + int(s.morto[morto, index])] += 1
    _put_table(s, 0, out, _STATE_TABLE)
    _put_settled(s, r, 0, out, _STATE_PUBLIC)
    _put_public(s, r, 0, out, _STATE_PUBLIC)
    for seat in range(MAX_SEATS):
        out[_SEAT + seat] = int(seat == int(s.seat) and int(s.phase) != OVER)
