"""Buraco from `rules.md`, slow and obvious: the twin that decides whether the fast kernel is right.

Everything is plain: cards are strings ("7H", "TC", "JK"), hands are lists, rules are a dict, actions are tuples. No
cleverness but one: where a duty is open, the search for a legal end of the turn leaves out moves that could as well
come later (`_may_help`).
The sections named in comments are those of `rules.md`.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, replace
from functools import lru_cache

SUITS = "CDHS"
RANKS = "A23456789TJQK"
LOW_ACE, HOME_OF_TWO, HIGH_ACE = 1, 2, 14

# ---------------------------------------------------------------- presets (rules.md section 6)

_COLUMNS = ("classic", "aberto", "aberto_sujo", "fechado", "fechado_stcl", "fechado_sujo", "online", "burraco")
_TABLE = """
num_seats             4           =           =           =           =           =           =           =
num_jokers            4           0           4           4           4           4           4           4
hand_size             11          =           =           =           =           =           =           =
num_mortos            2           =           =           =           =           =           =           =
morto_size            11          =           =           =           =           =           =           =
max_runs_per_suit     6           =           =           =           =           =           =           =
mortos_per_team       1           =           =           =           =           =           =           =
upcard                redeal_joker none        =           =           =           =           none        any
pile_take             use_top_this_turn free        free        use_top_first =           =           free        free
pile_justify          whole_pile  hand_and_table =           =           =           =           hand_and_table =
single_card_rediscard twin_only   =           =           =           =           =           =           =
sets                  yes         no          yes         yes         no          yes         yes         yes
sets_of_twos          yes         no          =           =           =           =           no          no
max_set               0           =           =           =           =           =           =           =
max_run               13          14          =           =           =           =           14          14
ace_to_ace            forbidden   allowed     wild_only   allowed     =           =           allowed     wild_only
wild_min_run          4           3           =           =           =           =           3           3
wild_low_end          ace_only    any         =           =           =           =           any         any
wild_moves            fixed       slides      =           =           =           =           resolves    resolves
close_with            any         clean       any         clean       clean       any         any         any
meld_out_morto        yes         yes         no          yes         yes         yes         yes         yes
meld_out_close        yes         yes         no          yes         yes         yes         yes         no
morto_after_discard   immediate   next_turn   =           =           =           =           next_turn   next_turn
final_discard_wild allowed allowed = = = = only_if_unplayable forbidden_closing
stock_end             after_turn  mortos_join =           =           =           =           at_last_draw last_two
first_meld_min        0           =           =           =           =           =           =           =
points_joker          30          20          30          20          =           =           30          30
points_two            20          10          20          10          =           =           20          20
points_ace            15          =           =           =           =           =           =           =
points_high           10          =           =           =           =           =           =           =
points_low            5           =           =           =           =           =           =           =
bonus_clean           200         =           =           =           =           =           =           =
bonus_dirty           100         =           =           =           =           =           =           =
bonus_semi_clean      0           =           =           =           =           =           0           150
bonus_royal           0           500         =           =           =           =           0           0
bonus_ace_to_ace      0           1000        0           1000        =           =           0           0
bonus_out             100         =           =           =           =           =           =           =
bonus_morto           0           =           =           =           =           =           =           =
penalty_no_morto      100         =           =           =           =           =           =           =
penalty_unused_morto  0           100         0           100         100         100         0           0
target                3000        2000        =           =           =           =           2005        2005
tie                   extra_deal  starter     =           =           =           =           extra_deal  extra_deal
max_turns             400         =           =           =           =           =           =           =
"""


def _value(word: str):
    if word in ("yes", "no"):
        return word == "yes"
    return int(word) if word.isdigit() else word


def _presets() -> dict[str, dict]:
    presets = {name: {} for name in _COLUMNS}
    for line in _TABLE.split("\n")[1:-1]:
        field, *words = line.split()
        left = None
        for name, word in zip(_COLUMNS, words, strict=True):
            left = left if word == "=" else _value(word)
            presets[name][field] = left
    classic = presets["classic"]
    presets["classic_italian"] = {**classic, "close_with": "clean", "first_meld_min": 50, "target": 2000}
    presets["classic_brazilian"] = {**classic, "wild_min_run": 3, "wild_low_end": "any"}
    presets["classic_two_player"] = {**classic, "num_seats": 2}
    presets["classic_fechado"] = {**classic, "close_with": "clean"}
    presets["classic_three_mortos"] = {**classic, "num_mortos": 3, "mortos_per_team": 2}
    presets["mini"] = {**classic, "hand_size": 5, "morto_size": 5, "target": 300}
    return presets


PRESETS = _presets()

# ---------------------------------------------------------------- cards


def is_wild(card: str) -> bool:
    """True of jokers and twos, the cards that can stand for another."""
    return card == "JK" or card[0] == "2"


def card_at(suit: str, position: int) -> str:
    """The natural card of a position in a run; 1 and 14 are the ace."""
    return RANKS[(position - 1) % 13] + suit


def card_points(card: str, rules: dict) -> int:
    if card == "JK":
        return rules["points_joker"]
    if card[0] in "2A":
        return rules["points_two" if card[0] == "2" else "points_ace"]
    return rules["points_high" if card[0] in "89TJQK" else "points_low"]


def points_of(cards, rules: dict) -> int:
    return sum(card_points(card, rules) for card in cards)


def without(cards: list[str], gone) -> list[str]:
    """`cards` less one copy of each card in `gone`; a gone card that is not there is passed over."""
    rest = list(cards)
    for card in gone:
        if card in rest:
            rest.remove(card)
    return rest


def holds(hand: list[str], cards) -> bool:
    return all(hand.count(card) >= cards.count(card) for card in cards)


def wilds_in(hand: list[str]) -> list[str]:
    return sorted({card for card in hand if is_wild(card)})


# ---------------------------------------------------------------- melds


@dataclass(frozen=True)
class Run:
    """Cards of one suit at positions low to high; the wild stands at wild_pos (0: no wild), all others are natural."""

    suit: str
    low: int
    high: int
    wild: str | None = None
    wild_pos: int = 0

    def __len__(self) -> int:
        return self.high - self.low + 1

    def all_cards(self) -> list[str]:
        """All cards, low to high, the wild as what it is."""
        return [self.wild if p == self.wild_pos else card_at(self.suit, p) for p in range(self.low, self.high + 1)]

    def natural_positions(self) -> list[int]:
        return [p for p in range(self.low, self.high + 1) if p != self.wild_pos]

    def __str__(self) -> str:
        return " ".join(card + "*" * (p == self.wild_pos) for p, card in enumerate(self.all_cards(), self.low))


@dataclass(frozen=True)
class Set_:  # noqa: N801 (not Python's set)
    """Natural cards of one rank, in suit order, and perhaps a wild."""

    rank: str
    cards: tuple[str, ...]
    wild: str | None = None

    def __post_init__(self):
        object.__setattr__(self, "cards", tuple(sorted(self.cards)))

    def __len__(self) -> int:
        return len(self.cards) + (self.wild is not None)

    def all_cards(self) -> list[str]:
        return [*self.cards, *([self.wild] if self.wild else [])]

    def __str__(self) -> str:
        return " ".join(self.cards) + (f" {self.wild}*" if self.wild else "")


def run_is_legal(run: Run, rules: dict) -> bool:
    """May a run lie on the table like this? (Not: may it come to lie like this.)"""
    return _run_is_legal(run, *_run_rules(rules))


def _run_rules(rules: dict) -> tuple:
    return rules["max_run"], rules["ace_to_ace"], rules["wild_min_run"], rules["wild_low_end"]


def _run_is_legal(run: Run, max_run: int, ace_to_ace: str, wild_min_run: int, wild_low_end: str) -> bool:
    if run.low < LOW_ACE or run.high > HIGH_ACE or not 3 <= len(run) <= max_run:
        return False
    if (run.low, run.high) == (LOW_ACE, HIGH_ACE):
        if ace_to_ace == "forbidden":
            return False
        if ace_to_ace == "wild_only" and run.wild_pos not in (LOW_ACE, HIGH_ACE):
            return False
    if run.wild is None:
        return True
    if run.wild == "2" + run.suit and run.wild_pos == HOME_OF_TWO:
        return False  # there it is natural
    if wild_min_run == 0 or len(run) < wild_min_run:
        return False
    return wild_low_end == "any" or run.wild_pos != run.low or run.low == LOW_ACE


def placements(suit: str, cards, rules: dict) -> list[Run]:
    """Every legal run that consists of exactly these cards."""
    return list(_placements(suit, tuple(sorted(cards)), *_run_rules(rules)))


@lru_cache(maxsize=200_000)
def _placements(suit: str, cards: tuple[str, ...], *run_rules) -> tuple[Run, ...]:
    found = []
    for wild in [None, *wilds_in(list(cards))]:
        naturals = without(list(cards), [wild])
        if any(card == "JK" or card[1] != suit for card in naturals):
            continue
        aces = naturals.count("A" + suit)
        inner = [RANKS.index(card[0]) + 1 for card in naturals if card[0] != "A"]
        for ends in itertools.combinations((LOW_ACE, HIGH_ACE), aces):
            stands = sorted([*ends, *inner])
            if stands and len(set(stands)) == len(stands):
                found += [run for run in _fillings(suit, stands, wild) if _run_is_legal(run, *run_rules)]
    return tuple(found)


def _fillings(suit: str, stands: list[int], wild: str | None) -> list[Run]:
    """The runs with naturals at these positions and the wild where it closes the gap, or at an end."""
    low, high = stands[0], stands[-1]
    gaps = [p for p in range(low, high) if p not in stands]
    if wild is None:
        return [] if gaps else [Run(suit, low, high)]
    if gaps:
        return [Run(suit, low, high, wild, gaps[0])] if len(gaps) == 1 else []
    return [Run(suit, low, high + 1, wild, high + 1), Run(suit, low - 1, high, wild, low - 1)]


def canonical(suit: str, cards, rules: dict) -> Run | None:
    """How these cards lie where wilds move: clean before dirty; the wild in the gap, high, low; then the high ace."""

    def order(run: Run):
        where = 0 if run.low < run.wild_pos < run.high else 1 if run.wild_pos == run.high else 2
        return run.wild is not None, where if run.wild else 0, run.high != HIGH_ACE

    return min(placements(suit, cards, rules), key=order, default=None)


def set_is_legal(meld: Set_, rules: dict) -> bool:
    if not rules["sets"] or (meld.rank == "2" and not rules["sets_of_twos"]):
        return False
    if any(card == "JK" or card[0] != meld.rank for card in meld.cards) or len(meld.cards) < 2 or len(meld) < 3:
        return False
    if meld.wild not in (None, "JK") and (not is_wild(meld.wild) or meld.rank == "2"):
        return False
    return not rules["max_set"] or len(meld) <= rules["max_set"]


def bonus(meld: Run | Set_, rules: dict) -> int:
    """The best canasta bonus that applies, 0 below seven cards."""
    if len(meld) < 7:
        return 0
    if meld.wild is not None:
        return max(rules["bonus_dirty"], rules["bonus_semi_clean"] if _is_semi_clean(meld, rules) else 0)
    best = rules["bonus_clean"]
    if isinstance(meld, Run) and len(meld) == 13:
        best = max(best, rules["bonus_royal"])
    if isinstance(meld, Run) and len(meld) == 14:
        best = max(best, rules["bonus_ace_to_ace"])
    return best


def _is_semi_clean(meld: Run | Set_, rules: dict) -> bool:
    """Of a dirty canasta: seven naturals in a row (where wilds move, as they lie best), or a set of exactly eight."""
    if isinstance(meld, Set_):
        return len(meld) == 8
    layouts = [meld] if rules["wild_moves"] == "fixed" else placements(meld.suit, meld.all_cards(), rules)
    return any(max(run.wild_pos - run.low, run.high - run.wild_pos) >= 7 for run in layouts)


def meld_value(cards: list[str], rules: dict) -> dict | None:
    """Clean, bonus and points of these cards as one new meld, in its best layout; None if they cannot be one."""
    if "JK" in cards and not rules["num_jokers"]:
        return None
    melds: list = []
    for suit in SUITS:
        melds += placements(suit, cards, rules) if rules["wild_moves"] == "fixed" else [canonical(suit, cards, rules)]
    for rank in RANKS:
        naturals = [card for card in cards if card[0] == rank and card != "JK"]
        others = without(cards, naturals)
        if len(others) <= 1:
            melds += [meld for meld in [Set_(rank, tuple(naturals), *others)] if set_is_legal(meld, rules)]
    values = [(meld.wild is None, bonus(meld, rules)) for meld in melds if meld]
    if not values:
        return None
    clean, best = max(values)
    return {"clean": clean, "bonus": best, "points": points_of(cards, rules)}


# ---------------------------------------------------------------- laying a card on a run (section 3)


def _stands_wild(run: Run, position: int) -> bool:
    return run.wild is not None and run.wild_pos == position


def lay_natural(run: Run, position: int, rules: dict) -> Run | None:
    """Where wilds are fixed: the run with a natural card at an end, or swapped in for the wild; None if illegal."""
    if _stands_wild(run, position):
        after = replace(run, wild=None, wild_pos=0)
    elif position == run.low - 1:
        after = replace(run, low=position)
    elif position == run.high + 1:
        after = replace(run, high=position)
    else:
        return None
    return after if run_is_legal(after, rules) else None


def lay_wild(run: Run, end: str, wild: str, rules: dict) -> Run | None:
    """Where wilds are fixed: the run with a wild at its low or high end; None if illegal."""
    if run.wild:
        return None
    if end == "low":
        after = replace(run, low=run.low - 1, wild=wild, wild_pos=run.low - 1)
    else:
        after = replace(run, high=run.high + 1, wild=wild, wild_pos=run.high + 1)
    return after if run_is_legal(after, rules) else None


def grow(run: Run, card: str, rules: dict) -> Run | None:
    """Where wilds move: the run with one more card, None if illegal."""
    after = canonical(run.suit, [*run.all_cards(), card], rules)
    if after is None or rules["wild_moves"] == "resolves":
        return after
    if HOME_OF_TWO in run.natural_positions() and HOME_OF_TWO not in after.natural_positions():
        return None  # slides: a natural two never becomes wild again
    if run.wild is not None and after.wild not in (None, run.wild):
        return None  # slides: a run that has a wild takes no other
    return after


def _name_of_growth(run: Run, slot: int, card: str, after: Run) -> tuple:
    """The one action that adds this card where wilds move."""
    if card == "2" + run.suit and after.wild == run.wild:
        return ("lay", run.suit, slot, HOME_OF_TWO)
    if is_wild(card):
        return ("lay wild", run.suit, slot, "high", card)
    if card[0] == "A":
        ends = [p for p in after.natural_positions() if p in (LOW_ACE, HIGH_ACE)]
        new = [p for p in ends if p not in run.natural_positions()]
        return ("lay", run.suit, slot, ends[0] if len(ends) == 1 else new[0])
    return ("lay", run.suit, slot, RANKS.index(card[0]) + 1)


# ---------------------------------------------------------------- the state of a deal


@dataclass
class State:
    rules: dict
    hands: list  # of each seat, a list of cards
    runs: list  # [team][suit] a list of Run; the index in it is the slot
    sets: list  # [team][rank] a list of Set_
    pile: list  # bottom to top
    stock: list  # the next card to be drawn is the last
    mortos: list  # those not taken yet; the first is the next to be taken
    taken: list  # [team] mortos taken
    waiting: list  # [seat] took a morto by a discard and has not started a turn since
    seat: int = 0
    starter: int = 0
    turn: int = 0  # turns finished so far
    phase: str = "draw"  # draw, meld, extra, over
    top: str | None = None  # the top card of the pile taken, while it must still be melded
    locked: list = None  # buried cards that may not be touched until the top card is used
    single: str | None = None  # came as a one-card pile this turn and falls under the rediscard restriction
    opening: tuple | None = None  # (suit or rank, "run" or "set", slot): the first meld, below its minimum
    opened: list = None  # [team] has completed its first meld
    last_turn: bool = False  # the last stock card was drawn this turn
    end_reason: str | None = None  # out, stock, turn cap
    out_team: int | None = None

    def __post_init__(self):
        self.locked = [] if self.locked is None else self.locked
        self.opened = [False, False] if self.opened is None else self.opened

    @property
    def team(self) -> int:
        return self.seat % 2

    @property
    def hand(self) -> list[str]:
        return self.hands[self.seat]


def no_runs() -> list:
    return [{suit: [] for suit in SUITS} for _ in range(2)]


def no_sets() -> list:
    return [{rank: [] for rank in RANKS} for _ in range(2)]


def copy(state: State) -> State:
    return replace(
        state,
        hands=[list(hand) for hand in state.hands],
        runs=[{suit: list(melds) for suit, melds in team.items()} for team in state.runs],
        sets=[{rank: list(melds) for rank, melds in team.items()} for team in state.sets],
        pile=list(state.pile),
        stock=list(state.stock),
        mortos=[list(morto) for morto in state.mortos],
        taken=list(state.taken),
        waiting=list(state.waiting),
        locked=list(state.locked),
        opened=list(state.opened),
    )


def melds_of(state: State, team: int) -> list:
    """All melds of a team, runs by suit and then sets by rank, each in slot order."""
    melds = [run for suit in SUITS for run in state.runs[team][suit]]
    return melds + [meld for rank in RANKS for meld in state.sets[team][rank]]


def full_deck(rules: dict) -> list[str]:
    return [rank + suit for rank in RANKS for suit in SUITS] * 2 + ["JK"] * rules["num_jokers"]


def deal(rules: dict, rng: random.Random, starter: int = 0) -> State:
    """A fresh deal, the card for the pile turned up as `upcard` says."""
    while True:
        deck = full_deck(rules)
        rng.shuffle(deck)
        hands = [[deck.pop() for _ in range(rules["hand_size"])] for _ in range(rules["num_seats"])]
        mortos = [[deck.pop() for _ in range(rules["morto_size"])] for _ in range(rules["num_mortos"])]
        pile = _turn_up(deck, rules["upcard"])
        if pile is not None:
            break
    seats = rules["num_seats"]
    return State(
        rules, hands, no_runs(), no_sets(), pile, deck, mortos, [0, 0], [False] * seats, seat=starter, starter=starter
    )


def _turn_up(stock: list[str], upcard: str) -> list[str] | None:
    """The cards that start the pile, taken from the stock; None: shuffle and deal again."""
    if upcard == "none" or not stock:
        return []
    for _ in range(len(stock)):
        card = stock.pop()
        if upcard == "any" or not is_wild(card):
            return [card]
        if upcard == "redeal_joker" and card == "JK":
            return None
        stock.insert(0, card)
    return []


# ---------------------------------------------------------------- what a team may do with an empty hand


def may_take_morto(state: State) -> bool:
    return bool(state.mortos) and state.taken[state.team] < state.rules["mortos_per_team"]


def has_canasta_to_close(state: State) -> bool:
    clean_only = state.rules["close_with"] == "clean"
    return any(len(meld) >= 7 and not (clean_only and meld.wild) for meld in melds_of(state, state.team))


def must_open(state: State) -> bool:
    """Has the team still to lay, or to complete, a first meld that is worth the minimum?"""
    return state.rules["first_meld_min"] > 0 and not state.opened[state.team]


def may_empty_by_melding(state: State) -> bool:
    """Of a position whose acting hand has just been emptied by a meld: is that allowed?"""
    if state.opening:
        return False  # the minimum has to be reached from the hand, not from the morto
    if may_take_morto(state):
        return state.rules["meld_out_morto"]
    return state.rules["meld_out_close"] and has_canasta_to_close(state)


# ---------------------------------------------------------------- legal actions


def legal(state: State) -> set[tuple]:
    """All legal actions of the seat to act; empty when the deal is over."""
    memo: dict = {}
    if state.phase == "draw":
        return _draws(state) | _pile_takes(state, memo)
    if state.phase == "meld":
        return _melds(state, memo) | _discards(state, memo)
    if state.phase == "extra":
        return _melds(state, memo) | _end_turns(state)
    return set()


def _draws(state: State) -> set[tuple]:
    return {("draw",)} if state.stock else set()


def _pile_takes(state: State, memo: dict) -> set[tuple]:
    """An empty pile can't be taken; with a duty on the top card, only where the turn can then be completed."""
    if not state.pile:
        return set()
    if state.rules["pile_take"] == "free" or turn_can_end(_take_pile(state), memo):
        return {("take pile",)}
    return set()


def _melds(state: State, memo: dict) -> set[tuple]:
    """New melds, lay-offs and swaps after which the turn can be completed: the guard of section 1."""
    return {action for action in table_moves(state) if _guard_allows(state, action, memo)}


def _guard_allows(state: State, action: tuple, memo: dict) -> bool:
    after = _lay(state, action)
    return turn_can_end(after, memo) if after.hand else may_empty_by_melding(after)


def _discards(state: State, memo: dict) -> set[tuple]:
    if state.top or state.opening:
        return set()
    return {("discard", card) for card in set(state.hand) if _may_discard(state, card, memo)}


def _may_discard(state: State, card: str, memo: dict) -> bool:
    if card == state.single and state.hand.count(card) < 2:
        return False
    if len(state.hand) > 1:
        return True
    closing = not may_take_morto(state)
    if closing and not has_canasta_to_close(state):
        return False
    if is_wild(card) and state.rules["final_discard_wild"] == "only_if_unplayable":
        return not _melds(state, memo)  # it is the only card, so any meld or lay-off uses it
    return not (closing and is_wild(card) and state.rules["final_discard_wild"] == "forbidden_closing")


def _end_turns(state: State) -> set[tuple]:
    return set() if state.opening else {("end turn",)}


# ---------------------------------------------------------------- nobody is ever stranded (section 1)


def turn_can_end(state: State, memo: dict) -> bool:
    """Can the seat, with cards in hand in phase meld or extra, complete its turn? Exact; sees no hidden card."""
    enough = 2 if state.phase == "meld" else 1
    if not state.top and not state.opening and len(state.hand) >= enough:
        return True  # a discard (not of the one-card pile: of two cards, one is another or its twin), or `end turn`
    key = _key(state)
    if key not in memo:
        memo[key] = _search_an_end(state, memo)
    return memo[key]


def _key(state: State) -> tuple:
    team = state.team
    runs = tuple(tuple(state.runs[team][suit]) for suit in SUITS)
    sets = tuple(tuple(state.sets[team][rank]) for rank in RANKS)
    duties = state.top, tuple(sorted(state.locked)), state.single, state.opening, state.opened[team]
    return state.phase, tuple(sorted(state.hand)), runs, sets, duties


def _search_an_end(state: State, memo: dict) -> bool:
    moves = [action for action in table_moves(state) if _may_help(state, action)]
    moves.sort(key=lambda action: state.top not in cards_of(action))
    if _top_is_hopeless(state, moves):
        return False
    if any(_guard_allows(state, action, memo) for action in moves):
        return True
    return state.phase == "meld" and bool(_discards(state, memo))


def _may_help(state: State, action: tuple) -> bool:
    """False of a move that could as well come after the top card has been used.

    Whatever line uses the top card, the moves before it that neither touch runs of its suit nor sets of its rank, nor
    free a wild by a swap, nor belong to the first meld, can be made after it, in the same order: nothing that stays
    before it needs them, the hand is not empty before the top card leaves it, and the table at the end is the same.
    A wild as the top card can go on any run, so there all run moves count.
    """
    if state.top is None or state.top in cards_of(action) or must_open(state):
        return True
    if action[0] in ("meld run", "lay", "lay wild"):
        return is_wild(state.top) or action[1] == state.top[1] or _is_swap(state, action)
    return state.top != "JK" and action[1] == state.top[0]


def _top_is_hopeless(state: State, moves: list[tuple]) -> bool:
    """A natural top card of a team without melds: if it can come to lie in any meld, then in a smallest one now."""
    return bool(
        state.top
        and not is_wild(state.top)
        and not melds_of(state, state.team)
        and not any(state.top in cards_of(action) for action in moves)
    )


def _is_swap(state: State, action: tuple) -> bool:
    if action[0] != "lay" or state.rules["wild_moves"] != "fixed":
        return False
    return _stands_wild(state.runs[state.team][action[1]][action[2]], action[3])


# ---------------------------------------------------------------- melds, lay-offs and swaps that the table allows


def cards_of(action: tuple) -> list[str]:
    """The cards that leave the hand for the table."""
    kind = action[0]
    if kind == "meld run":
        _, suit, low, high, wild_pos, wild = action
        return Run(suit, low, high, wild, wild_pos).all_cards()
    if kind == "meld set":
        _, rank, cards, wild = action
        return Set_(rank, cards, wild).all_cards()
    if kind == "lay":
        return [card_at(action[1], action[3])]
    if kind in ("lay wild", "lay set", "lay wild set"):
        return [action[-1]]
    return []


def table_moves(state: State) -> list[tuple]:
    """Melds, lay-offs and swaps that melds and open duties allow; if the turn can be completed is not asked here."""
    hand = without(state.hand, state.locked) if state.top else state.hand
    if state.opening:
        moves = _lay_offs_on_opening(state, hand)
    else:
        moves = _new_runs(state, hand) + _new_sets(state, hand) + _lay_offs(state, hand)
    if state.top and state.rules["pile_take"] == "use_top_first":
        moves = [action for action in moves if state.top in cards_of(action)]
    return moves


def _new_runs(state: State, hand: list[str]) -> list[tuple]:
    """Three naturals; with a wild the smallest runs that can't be had by laying a wild on a run."""
    rules = state.rules
    shapes = [(3, None)]
    if rules["wild_min_run"] == 3:
        shapes += [(3, 0), (3, 1), (3, 2)]
    if rules["wild_min_run"] == 4:
        shapes += [(4, 1), (4, 2)]
    moves = []
    for suit in SUITS:
        if len(state.runs[state.team][suit]) >= rules["max_runs_per_suit"]:
            continue
        held = {position for position in range(LOW_ACE, HIGH_ACE + 1) if card_at(suit, position) in hand}
        for low, (length, wild_at) in itertools.product(range(LOW_ACE, HIGH_ACE - 1), shapes):
            if len(held.intersection(range(low, low + length))) < length - (wild_at is not None):
                continue
            runs = _runs_from_hand(hand, suit, low, length, wild_at)
            legal_runs = [run for run in runs if run_is_legal(run, rules) and _is_named_layout(run, rules)]
            moves += [("meld run", suit, run.low, run.high, run.wild_pos, run.wild) for run in legal_runs]
    return moves


def _runs_from_hand(hand: list[str], suit: str, low: int, length: int, wild_at: int | None) -> list[Run]:
    """The runs of this shape that the hand can fill, one for each kind of wild."""
    high = low + length - 1
    naturals = [card_at(suit, low + i) for i in range(length) if i != wild_at]
    if high > HIGH_ACE or not holds(hand, naturals):
        return []
    if wild_at is None:
        return [Run(suit, low, high)]
    return [Run(suit, low, high, wild, low + wild_at) for wild in wilds_in(without(hand, naturals))]


def _is_named_layout(run: Run, rules: dict) -> bool:
    """Where wilds move there is one action for one set of cards, that of the canonical layout."""
    return rules["wild_moves"] == "fixed" or run == canonical(run.suit, run.all_cards(), rules)


def _new_sets(state: State, hand: list[str]) -> list[tuple]:
    moves = []
    for rank in RANKS:
        naturals = sorted(card for card in hand if card != "JK" and card[0] == rank)
        melds = {Set_(rank, three) for three in itertools.combinations(naturals, 3)}
        for pair in itertools.combinations(naturals, 2):
            melds |= {Set_(rank, pair, wild) for wild in wilds_in(without(hand, pair))}
        moves += [("meld set", rank, meld.cards, meld.wild) for meld in melds if set_is_legal(meld, state.rules)]
    return moves


def _lay_offs(state: State, hand: list[str]) -> list[tuple]:
    moves = []
    for suit in SUITS:
        for slot, run in enumerate(state.runs[state.team][suit]):
            moves += _lay_offs_on_run(run, slot, hand, state.rules)
    for rank in RANKS:
        for slot, meld in enumerate(state.sets[state.team][rank]):
            moves += _lay_offs_on_set(meld, slot, hand, state.rules)
    return moves


def _lay_offs_on_opening(state: State, hand: list[str]) -> list[tuple]:
    suit_or_rank, kind, slot = state.opening
    if kind == "run":
        return _lay_offs_on_run(state.runs[state.team][suit_or_rank][slot], slot, hand, state.rules)
    return _lay_offs_on_set(state.sets[state.team][suit_or_rank][slot], slot, hand, state.rules)


def _lay_offs_on_run(run: Run, slot: int, hand: list[str], rules: dict) -> list[tuple]:
    if rules["wild_moves"] != "fixed":
        grown = [
            (card, grow(run, card, rules))
            for card in sorted(set(hand))
            if card == "JK" or card[1] == run.suit or is_wild(card)
        ]
        return [_name_of_growth(run, slot, card, after) for card, after in grown if after]
    held = [p for p in range(LOW_ACE, HIGH_ACE + 1) if card_at(run.suit, p) in hand]
    naturals = [("lay", run.suit, slot, p) for p in held if lay_natural(run, p, rules)]
    ends = itertools.product(("low", "high"), wilds_in(hand))
    return naturals + [("lay wild", run.suit, slot, end, wild) for end, wild in ends if lay_wild(run, end, wild, rules)]


def _lay_offs_on_set(meld: Set_, slot: int, hand: list[str], rules: dict) -> list[tuple]:
    moves = []
    for card in sorted(set(hand)):
        if set_is_legal(Set_(meld.rank, (*meld.cards, card), meld.wild), rules):
            moves.append(("lay set", meld.rank, slot, card))
        if is_wild(card) and not meld.wild and set_is_legal(Set_(meld.rank, meld.cards, card), rules):
            moves.append(("lay wild set", meld.rank, slot, card))
    return moves


# ---------------------------------------------------------------- playing an action


def play(state: State, action: tuple) -> State:
    """The state after a legal action; the state given stays as it is."""
    kind = action[0]
    if kind == "draw":
        return _draw(state)
    if kind == "take pile":
        return _take_pile(state)
    if kind == "discard":
        return _discard(state, action[1])
    if kind == "end turn":
        return _turn_ends(copy(state))
    after = _lay(state, action)
    return after if after.hand else _hand_emptied(after)


def _draw(state: State) -> State:
    after = copy(state)
    after.hand.append(after.stock.pop())
    after.phase = "meld"
    if not after.stock and after.rules["stock_end"] == "at_last_draw":
        after.last_turn = True
        return _deal_ends(after, "stock")
    _mortos_join(after)
    after.last_turn = not after.stock
    return after


def _mortos_join(state: State) -> None:
    """As soon as the stock is empty all mortos become it, the first card of the first drawn first (section 5)."""
    if state.rules["stock_end"] == "mortos_join" and not state.stock:
        state.stock = [card for morto in state.mortos for card in morto][::-1]
        state.mortos = []


def _take_pile(state: State) -> State:
    after = copy(state)
    pile, after.pile = after.pile, []
    after.hand.extend(pile)
    after.phase = "meld"
    if after.rules["pile_take"] != "free":
        after.top = pile[-1]
        if after.rules["pile_justify"] == "hand_and_table":
            after.locked = pile[:-1]
    if len(pile) == 1 and after.rules["single_card_rediscard"] == "twin_only":
        after.single = pile[0]
    return after


def _lay(state: State, action: tuple) -> State:
    """The state with the cards on the table and the duties that this meets; nothing is done yet about an empty hand."""
    after = copy(state)
    laid = cards_of(action)
    after.hands[after.seat] = without(after.hand, laid)
    meld, freed = _place(after, action)
    after.hand.extend(freed)
    if after.top in laid:
        after.top, after.locked = None, []
    if after.single in laid:
        after.single = None
    if action[0] in ("meld run", "meld set") or after.opening:
        _judge_opening(after, action, meld)
    return after


def _place(state: State, action: tuple) -> tuple[Run | Set_, list[str]]:
    """Changes the table; returns the meld as it lies now and the wild that a swap gives back."""
    kind, which, rules = action[0], action[1], state.rules
    melds = (state.runs if kind in ("meld run", "lay", "lay wild") else state.sets)[state.team][which]
    if kind == "meld run":
        _, suit, low, high, wild_pos, wild = action
        melds.append(Run(suit, low, high, wild, wild_pos))
        return melds[-1], []
    if kind == "meld set":
        melds.append(Set_(which, action[2], action[3]))
        return melds[-1], []
    slot, before, freed = action[2], melds[action[2]], []
    if kind == "lay set":
        melds[slot] = Set_(which, (*before.cards, action[3]), before.wild)
    elif kind == "lay wild set":
        melds[slot] = Set_(which, before.cards, action[3])
    elif rules["wild_moves"] != "fixed":
        melds[slot] = grow(before, cards_of(action)[0], rules)
    elif kind == "lay":
        melds[slot] = lay_natural(before, action[3], rules)
        freed = [before.wild] if _stands_wild(before, action[3]) else []
    else:
        melds[slot] = lay_wild(before, action[3], action[4], rules)
    return melds[slot], freed


def _judge_opening(state: State, action: tuple, meld: Run | Set_) -> None:
    """A team's first meld of the deal has to reach first_meld_min before anything else may be done."""
    team = state.team
    if state.opened[team]:
        return
    if points_of(meld.all_cards(), state.rules) >= state.rules["first_meld_min"]:
        state.opened[team], state.opening = True, None
    elif state.opening is None:
        kind = "run" if isinstance(meld, Run) else "set"
        slots = (state.runs if kind == "run" else state.sets)[team][action[1]]
        state.opening = (action[1], kind, len(slots) - 1)


def _hand_emptied(state: State) -> State:
    """A hand emptied by a meld: the seat takes a morto and plays on, or goes out."""
    if not may_take_morto(state):
        return _goes_out(state)
    _take_morto(state)
    return state


def _take_morto(state: State) -> None:
    state.hands[state.seat] = state.mortos.pop(0)
    state.taken[state.team] += 1
    state.single = None


def _discard(state: State, card: str) -> State:
    after = copy(state)
    after.hand.remove(card)
    after.pile.append(card)
    if after.hand:
        return _turn_ends(after)
    if not may_take_morto(after):
        return _goes_out(after)
    _take_morto(after)
    if after.rules["morto_after_discard"] == "immediate":
        after.phase = "extra"
        return after
    after.waiting[after.seat] = True
    return _turn_ends(after)


def _goes_out(state: State) -> State:
    state.out_team = state.team
    return _deal_ends(state, "out")


def _deal_ends(state: State, reason: str) -> State:
    state.phase, state.end_reason = "over", reason
    return state


def _turn_ends(state: State) -> State:
    """The next seat's draw, or the end of the deal (section 5); then the seat stays that of the last turn."""
    rules = state.rules
    state.turn += 1
    state.top, state.locked, state.single, state.opening = None, [], None, None
    _mortos_join(state)
    left = {"after_turn": 0, "mortos_join": 0, "last_two": 2, "at_last_draw": -1}[rules["stock_end"]]
    if len(state.stock) <= left:
        return _deal_ends(state, "stock")
    after = copy(state)
    after.seat = (state.seat + 1) % rules["num_seats"]
    after.phase, after.last_turn = "draw", False
    after.waiting[after.seat] = False
    if not after.stock and not legal(after):
        return _deal_ends(state, "stock")
    if state.turn >= rules["max_turns"]:
        return _deal_ends(state, "turn cap")
    return after


# ---------------------------------------------------------------- scores


def scores(state: State) -> tuple[int, int]:
    """Points of both teams, from scratch, as if the deal ended now."""
    return _score(state, 0), _score(state, 1)


def _score(state: State, team: int) -> int:
    rules, melds = state.rules, melds_of(state, team)
    seats = range(team, rules["num_seats"], 2)
    score = sum(points_of(meld.all_cards(), rules) + bonus(meld, rules) for meld in melds)
    score += rules["bonus_out"] if state.out_team == team else 0
    score += rules["bonus_morto"] * state.taken[team]
    score -= sum(points_of(state.hands[seat], rules) for seat in seats)
    score -= rules["penalty_no_morto"] if state.taken[team] == 0 else 0
    score -= rules["penalty_unused_morto"] * sum(int(state.waiting[seat]) for seat in seats)
    return score
