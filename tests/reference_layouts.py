"""What a turn can end with, by brute force over whole layouts: the second opinion on `reference.legal`.

`end_of_turn_outcomes` never plays an action. It deals the hand out over the table in every way, existing melds grown as
a whole and new melds laid as a whole, and asks the placement rules of each meld whether that may lie there.
`reachable_outcomes` gives the same set from sequences of single legal actions. That both agree is the pair of theorems
of `design.md` section 2: sound and complete.

An outcome is (kind, table, remaining hand, discard): kind "discard", "out", "morto direct", "morto discard" or
"end turn"; table the sorted texts of the team's melds; discard a card or None.

A duty (top card, first meld) splits the turn in steps, each a layout again: what has met the duty, then anything from
there. So a wild that met a duty and was swapped out again is found, too.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, replace
from functools import lru_cache

from tests.reference import (
    HIGH_ACE,
    LOW_ACE,
    RANKS,
    SUITS,
    Run,
    Set_,
    State,
    _key,
    canonical,
    card_at,
    full_deck,
    holds,
    is_wild,
    legal,
    melds_of,
    must_open,
    no_runs,
    no_sets,
    placements,
    play,
    points_of,
    run_is_legal,
    set_is_legal,
    wilds_in,
    without,
)

_text = lru_cache(maxsize=100_000)(str)


def table_key(melds) -> tuple[str, ...]:
    return tuple(sorted(_text(meld) for meld in melds))


# ---------------------------------------------------------------- by sequences of single actions


def reachable_outcomes(state: State) -> set[tuple]:
    """All ways to end this turn by legal actions one after another."""
    team, found, seen, open_ = state.team, set(), set(), [state]
    while open_:
        now = open_.pop()
        if _key(now) in seen:
            continue
        seen.add(_key(now))
        for action in legal(now):
            after = play(now, action)
            if action[0] in ("discard", "end turn") or after.phase == "over" or after.taken != now.taken:
                found.add(_outcome(now, action, after, team))
            else:
                open_.append(after)
    return found


def _outcome(now: State, action: tuple, after: State, team: int) -> tuple:
    table = table_key(melds_of(after, team))
    if action[0] == "end turn":
        return ("end turn", table, tuple(sorted(now.hand)), None)
    card = action[1] if action[0] == "discard" else None
    if after.out_team == team:
        return ("out", table, (), card)
    if after.taken != now.taken:
        return ("morto discard" if card else "morto direct", table, (), card)
    return ("discard", table, tuple(sorted(without(now.hand, [card]))), card)


# ---------------------------------------------------------------- by whole layouts


@dataclass(frozen=True)
class Position:
    """The acting team's melds, the acting hand (sorted) and the duties that are open."""

    melds: tuple
    hand: tuple[str, ...]
    top: str | None = None
    locked: tuple[str, ...] = ()
    single: str | None = None
    must_open: bool = False
    opening: int | None = None  # index in melds


def end_of_turn_outcomes(state: State) -> set[tuple]:
    """All ways to end this turn, for a state in phase meld or extra with a small hand."""
    melds = melds_of(state, state.team)
    opening = None
    if state.opening:
        which, kind, slot = state.opening
        opening = melds.index((state.runs if kind == "run" else state.sets)[state.team][which][slot])
    start = Position(
        tuple(melds),
        tuple(sorted(state.hand)),
        state.top,
        tuple(sorted(state.locked)),
        state.single,
        must_open(state),
        opening,
    )
    return _Turn(state).outcomes(start)


class _Turn:
    """One turn of one seat: the rules, and what the layouts found so far came to."""

    def __init__(self, state: State):
        self.rules, self.phase = state.rules, state.phase
        self.morto_left = bool(state.mortos) and state.taken[state.team] < state.rules["mortos_per_team"]
        self.fixed = state.rules["wild_moves"] == "fixed"
        self.memo: dict = {}

    # ---- duties, and the end of the turn

    def outcomes(self, start: Position) -> set[tuple]:
        found: set[tuple] = set()
        ended: set[tuple] = set()
        seen, open_ = {start}, [start]
        while open_:
            now = open_.pop()
            for after in self.steps(now):
                if after not in seen:
                    seen.add(after)
                    open_.append(after)
            if now.top or now.opening is not None:
                continue
            layouts = {(now.melds, now.hand)} if now.must_open else self.layouts(now.melds, now.hand)
            for melds, hand in layouts:
                end = (table_key(melds), hand, self.single_after(now, now.hand, melds, hand))
                if end not in ended:
                    ended.add(end)
                    found |= self.endings(melds, hand, end[2])
        return found

    def steps(self, now: Position) -> list[Position]:
        """The positions after one more duty has been met, or after one more step towards it."""
        hand = tuple(without(list(now.hand), now.locked)) if now.top else now.hand
        if now.top and self.rules["pile_take"] == "use_top_first":
            layouts = self.first_uses(now, hand)
        elif now.opening is not None:
            layouts = self.growths_of_one(now.melds, now.opening, hand)
        elif now.must_open:
            layouts = {((*now.melds, meld), rest) for meld, rest in self.new_melds(hand)}
        elif now.top or (self.fixed and now.single and is_wild(now.single)):
            use = now.top or now.single
            layouts = {
                (melds, rest)
                for melds, rest in self.layouts(now.melds, hand)
                if self.laid(now.melds, hand, melds, rest, use)
            }
        else:
            layouts = set()
        return [self.position_after(now, hand, melds, rest) for melds, rest in layouts]

    def position_after(self, now: Position, hand: tuple, melds: tuple, rest: tuple) -> Position:
        top, locked = now.top, now.locked
        whole_hand = tuple(sorted([*rest, *(locked if top else ())]))
        if top and self.laid(now.melds, hand, melds, rest, top):
            top, locked = None, ()
        single = self.single_after(now, hand, melds, rest)
        opening, unopened = now.opening, now.must_open
        if unopened:
            opening = len(now.melds) if opening is None else opening
            if points_of(melds[opening].all_cards(), self.rules) >= self.rules["first_meld_min"]:
                opening, unopened = None, False
        if opening is None:
            melds = tuple(sorted(melds, key=_text))
        return Position(melds, whole_hand, top, locked, single, unopened, opening)

    def laid(self, before: tuple, hand: tuple, after: tuple, rest: tuple, card: str) -> bool:
        """Was a copy of this card laid between two layouts? Wilds that were swapped out passed through the hand."""
        freed = 0
        if self.fixed:
            freed = sum(
                isinstance(a, Run) and a.wild == card and a.wild_pos != b.wild_pos for a, b in zip(before, after)
            )
        return hand.count(card) + freed > rest.count(card)

    def single_after(self, now: Position, hand: tuple, melds: tuple, rest: tuple) -> str | None:
        return None if now.single and self.laid(now.melds, hand, melds, rest, now.single) else now.single

    def endings(self, melds: tuple, hand: tuple, single: str | None) -> set[tuple]:
        """How a turn may end with these melds and this hand, all duties met."""
        table = table_key(melds)
        if not hand:
            if self.morto_left:
                return {("morto direct", table, (), None)} if self.rules["meld_out_morto"] else set()
            return {("out", table, (), None)} if self.rules["meld_out_close"] and self.may_close(melds) else set()
        if self.phase == "extra":
            return {("end turn", table, hand, None)}
        cards = {card for card in hand if card != single or hand.count(card) >= 2}
        if len(hand) > 1:
            return {("discard", table, tuple(without(list(hand), [card])), card) for card in cards}
        cards = {card for card in cards if not is_wild(card) or self.may_end_with_wild(melds, card, single)}
        if self.morto_left:
            return {("morto discard", table, (), card) for card in cards}
        return {("out", table, (), card) for card in cards} if self.may_close(melds) else set()

    def may_close(self, melds: tuple) -> bool:
        clean_only = self.rules["close_with"] == "clean"
        return any(len(meld) >= 7 and not (clean_only and meld.wild) for meld in melds)

    def may_end_with_wild(self, melds: tuple, card: str, single: str | None) -> bool:
        word = self.rules["final_discard_wild"]
        if word == "only_if_unplayable":
            return not any(
                self.endings(after, rest, None) for after, rest in self.layouts(melds, (card,)) if after != melds
            )
        return word == "allowed" or self.morto_left

    # ---- layouts

    def layouts(self, melds: tuple, hand: tuple) -> set[tuple]:
        """(melds, hand) for every way to swap, grow and lay new melds, none included; old melds keep their index."""
        key = (melds, hand)
        if key not in self.memo:
            found = self.swaps(melds, hand)
            for index in range(len(melds)):
                found = {
                    ((*now[:index], meld, *now[index + 1 :]), rest)
                    for now, cards in found
                    for meld, rest in self.growths(now[index], cards)
                }
            self.memo[key] = {
                ((*now, *new), rest)
                for now, cards in found
                for new, rest in self.new_meld_lists(cards, self.rooms(now))
            }
        return self.memo[key]

    def growths_of_one(self, melds: tuple, index: int, hand: tuple) -> set[tuple]:
        """The same for one meld alone."""
        return {
            ((*melds[:index], after, *melds[index + 1 :]), rest)
            for (now,), cards in self.swaps((melds[index],), hand)
            for after, rest in self.growths(now, cards)
        }

    def swaps(self, melds: tuple, hand: tuple) -> set[tuple]:
        """Where wilds are fixed: every set of swaps that can be made in some order, the wilds back in the hand."""
        found, open_ = {(melds, hand)}, [(melds, hand)]
        while open_ and self.fixed:
            now, cards = open_.pop()
            for index, meld in enumerate(now):
                if not isinstance(meld, Run) or meld.wild is None or card_at(meld.suit, meld.wild_pos) not in cards:
                    continue
                natural = replace(meld, wild=None, wild_pos=0)
                rest = tuple(sorted([*without(list(cards), [card_at(meld.suit, meld.wild_pos)]), meld.wild]))
                after = ((*now[:index], natural, *now[index + 1 :]), rest)
                if run_is_legal(natural, self.rules) and after not in found:
                    found.add(after)
                    open_.append(after)
        return found

    def growths(self, meld, hand: tuple) -> set[tuple]:
        """(meld, hand) for every way to lay cards on one meld, none included."""
        key = (meld, hand)
        if key not in self.memo:
            if isinstance(meld, Set_):
                self.memo[key] = self.growths_of_set(meld, hand)
            elif self.fixed:
                self.memo[key] = self.growths_of_fixed_run(meld, hand)
            else:
                self.memo[key] = self.growths_of_moving_run(meld, hand)
        return self.memo[key]

    def growths_of_set(self, meld: Set_, hand: tuple) -> set[tuple]:
        naturals = [card for card in hand if card != "JK" and card[0] == meld.rank]
        found = set()
        for n in range(len(naturals) + 1):
            for more in set(itertools.combinations(naturals, n)):
                rest = without(list(hand), more)
                for wild in [meld.wild] if meld.wild else [None, *wilds_in(rest)]:
                    after = Set_(meld.rank, (*meld.cards, *more), wild)
                    if set_is_legal(after, self.rules):
                        found.add((after, tuple(rest if meld.wild else without(rest, [wild]))))
        return found

    def growths_of_fixed_run(self, run: Run, hand: tuple) -> set[tuple]:
        """The wild on the table stays; where there is none, one may stand on a position that is added."""
        found = set()
        for low, high in itertools.product(range(run.low, LOW_ACE - 1, -1), range(run.high, HIGH_ACE + 1)):
            added = [*range(low, run.low), *range(run.high + 1, high + 1)]
            if sum(card_at(run.suit, p) not in hand for p in added) > 1:
                continue
            for wild_pos in [0] if run.wild else [0, *added]:
                naturals = [card_at(run.suit, p) for p in added if p != wild_pos]
                if not holds(list(hand), naturals):
                    continue
                rest = without(list(hand), naturals)
                for wild in wilds_in(rest) if wild_pos else [None]:
                    after = Run(run.suit, low, high, wild or run.wild, wild_pos or run.wild_pos)
                    if run_is_legal(after, self.rules) and (not wild or self.wild_could_be_laid(run, after)):
                        found.add((after, tuple(without(rest, [wild]))))
        return found

    def wild_could_be_laid(self, before: Run, after: Run) -> bool:
        """When the wild came it was the lowest or the highest card; the other end may have grown already."""
        p = after.wild_pos
        if p < before.low:
            then = [replace(after, low=p, high=high) for high in range(before.high, after.high + 1)]
        else:
            then = [replace(after, low=low, high=p) for low in range(after.low, before.low + 1)]
        return any(run_is_legal(run, self.rules) for run in then)

    def growths_of_moving_run(self, run: Run, hand: tuple) -> set[tuple]:
        """All that some order of single lay-offs comes to."""
        found, open_ = {(run, hand)}, [(run, hand)]
        while open_:
            now, cards = open_.pop()
            for card in set(cards):
                after = self.one_card_more(now, card)
                new = (after, tuple(without(list(cards), [card])))
                if after and new not in found:
                    found.add(new)
                    open_.append(new)
        return found

    def one_card_more(self, run: Run, card: str) -> Run | None:
        """Where wilds move: the run with one more card; as slides, by which cards are natural and which is the wild."""
        if card != "JK" and card[1] != run.suit and not is_wild(card):
            return None
        if self.rules["wild_moves"] == "resolves":
            return canonical(run.suit, [*run.all_cards(), card], self.rules)
        naturals, wild = [card_at(run.suit, p) for p in run.natural_positions()], run.wild
        may_be = [([*naturals, card], wild)]
        if is_wild(card) and wild is None:
            may_be.append((naturals, card))
        found = {lies for natural, acting in may_be if (lies := self.lies(run.suit, natural, acting))}
        assert len(found) <= 1, (run, card, found)
        return found.pop() if found else None

    def lies(self, suit: str, naturals: list[str], wild: str | None) -> Run | None:
        """The run of these naturals and this wild, the wild sent home where it can be natural; None: no run."""
        two = "2" + suit
        if wild == two and two not in naturals and (home := self.lies(suit, [*naturals, two], None)):
            return home
        cards = [*naturals, *([wild] if wild else [])]
        if not any(run.wild == wild for run in placements(suit, cards, self.rules)):
            return None
        return canonical(suit, cards, self.rules)

    # ---- new melds

    def rooms(self, melds: tuple) -> tuple[int, ...]:
        """How many more runs of each suit a team may lay."""
        runs = [meld.suit for meld in melds if isinstance(meld, Run)]
        return tuple(self.rules["max_runs_per_suit"] - runs.count(suit) for suit in SUITS)

    def new_meld_lists(self, hand: tuple, rooms: tuple[int, ...]) -> set[tuple]:
        """(new melds, hand) for every choice of whole new melds, none included."""
        key = (hand, rooms)
        if key not in self.memo:
            self.memo[key] = found = {((), hand)}
            for meld, rest in self.new_melds(hand):
                left = tuple(room - (suit == getattr(meld, "suit", None)) for suit, room in zip(SUITS, rooms))
                if left == rooms or min(left) >= 0:
                    found |= {(_sorted_melds(meld, more), end) for more, end in self.new_meld_lists(rest, left)}
        return self.memo[key]

    def new_melds(self, hand: tuple) -> set[tuple]:
        """(meld, hand) for every whole new meld of three cards or more, in every placement the player may choose."""
        if len(hand) < 3:
            return set()
        if hand not in self.memo:
            self.memo[hand] = {new for suit in SUITS for new in self.new_runs(suit, hand)}
            for rank in RANKS:
                self.memo[hand] |= self.growths_of_new_set(rank, hand)
        return self.memo[hand]

    def growths_of_new_set(self, rank: str, hand: tuple) -> set[tuple]:
        naturals = [card for card in hand if card != "JK" and card[0] == rank]
        found = set()
        for pair in set(itertools.combinations(naturals, 2)):
            found |= self.growths_of_set(Set_(rank, pair), tuple(without(list(hand), pair)))
        return found

    def new_runs(self, suit: str, hand: tuple) -> set[tuple]:
        found = set()
        for low, high in itertools.combinations(range(LOW_ACE, HIGH_ACE + 1), 2):
            positions = range(low, high + 1)
            if len(positions) > len(hand) or sum(card_at(suit, p) not in hand for p in positions) > 1:
                continue
            for wild_pos in (0, *positions):
                naturals = [card_at(suit, p) for p in positions if p != wild_pos]
                if not holds(list(hand), naturals):
                    continue
                rest = without(list(hand), naturals)
                for wild in wilds_in(rest) if wild_pos else [None]:
                    run = Run(suit, low, high, wild, wild_pos)
                    if run_is_legal(run, self.rules):
                        lies = run if self.fixed else canonical(suit, run.all_cards(), self.rules)
                        found.add((lies, tuple(without(rest, [wild]))))
        return found

    # ---- use_top_first: the first action

    def first_uses(self, now: Position, hand: tuple) -> set[tuple]:
        """(melds, hand) after one action that lays the top card: on a meld, or in a new meld of the smallest size."""
        found = set()
        if now.opening is None:
            for meld, rest in self.new_melds(hand):
                inside = isinstance(meld, Run) and meld.low < meld.wild_pos < meld.high
                smallest = len(meld) == 3 or (len(meld) == 4 and inside and self.rules["wild_min_run"] == 4)
                room = isinstance(meld, Set_) or self.rooms(now.melds)[SUITS.index(meld.suit)] > 0
                if smallest and room and now.top in meld.all_cards():
                    found.add(((*now.melds, meld), rest))
        if now.must_open and now.opening is None:
            return found
        for index in range(len(now.melds)) if now.opening is None else [now.opening]:
            for melds, rest in self.growths_of_one(now.melds, index, (now.top,)):
                if self.one_card_laid(now.melds[index], melds[index]):
                    found.add((melds, tuple(sorted([*rest, *without(list(hand), [now.top])]))))
        return found

    def one_card_laid(self, before, after) -> bool:
        """Laid one card, no more: not also the wild that a swap gave back."""
        swapped = self.fixed and before.wild is not None and after.wild is None
        return after != before and (len(after) == len(before)) == swapped


def _sorted_melds(meld, more: tuple) -> tuple:
    return tuple(sorted([meld, *more], key=_text))


# ---------------------------------------------------------------- random small positions


def random_position(rules: dict, rng: random.Random, most_cards: int = 7) -> State:
    """A made-up position in phase meld or extra with a small hand that fits the table; duties as the rules allow."""
    deck = full_deck(rules)
    rng.shuffle(deck)
    seats, seat = rules["num_seats"], rng.randrange(rules["num_seats"])
    state = State(
        rules, [[] for _ in range(seats)], no_runs(), no_sets(), [], deck, [], [0, 0], [False] * seats, seat=seat
    )
    state.phase = "extra" if rules["morto_after_discard"] == "immediate" and rng.random() < 0.2 else "meld"
    suits, ranks = rng.sample(SUITS, 2), rng.sample(RANKS, 2)
    unopened = rules["first_meld_min"] > 0 and rng.random() < 0.5
    for _ in range(0 if unopened else rng.randrange(4)):
        _random_meld(state, rng, suits, ranks)
    state.opened[state.team] = not unopened and bool(melds_of(state, state.team))
    if unopened and rng.random() < 0.3:
        _random_opening(state, rng, suits, ranks)
    _random_hand(state, rng, suits, ranks, rng.randint(1, most_cards))
    if state.phase == "meld":
        _random_duties(state, rng)
    _random_mortos(state, rng)
    for other in range(seats):
        if other != seat:
            state.hands[other] = [state.stock.pop() for _ in range(3)]
    for _ in range(rng.randrange(3)):
        state.pile.append(state.stock.pop())
    return state


def _random_meld(state: State, rng: random.Random, suits: list[str], ranks: list[str]) -> None:
    """Lays one meld of cards from the stock, often nearly a canasta; nothing if the cards drawn make none."""
    rules, team, deck = state.rules, state.team, state.stock
    wild = rng.choice([None, *wilds_in(deck)]) if rng.random() < 0.5 else None
    if rules["sets"] and rng.random() < 0.4:
        rank = rng.choice(ranks)
        naturals = [card for card in deck if card != "JK" and card[0] == rank]
        meld = Set_(rank, tuple(naturals[: rng.randint(2, 7)]), wild)
        if not set_is_legal(meld, rules) or not holds(deck, meld.all_cards()):
            return
        state.sets[team][rank].append(meld)
    else:
        low = rng.choice([1, 2, *range(1, 13)])
        high = min(low + rng.choice([2, 3, 4, 5, 5, 6, 6, 8, 11, 12, 13]), HIGH_ACE)
        meld = Run(rng.choice(suits), low, high, wild, rng.randint(low, high) if wild else 0)
        room = len(state.runs[team][meld.suit]) < rules["max_runs_per_suit"]
        if not room or not run_is_legal(meld, rules) or not holds(deck, meld.all_cards()):
            return
        if rules["wild_moves"] != "fixed":
            meld = canonical(meld.suit, meld.all_cards(), rules)
        state.runs[team][meld.suit].append(meld)
    deck[:] = without(deck, meld.all_cards())


def _random_opening(state: State, rng: random.Random, suits: list[str], ranks: list[str]) -> None:
    """A first meld in progress, below the minimum."""
    for _ in range(20):
        _random_meld(state, rng, suits, ranks)
        melds = melds_of(state, state.team)
        if melds:
            break
    else:
        return
    if points_of(melds[0].all_cards(), state.rules) >= state.rules["first_meld_min"]:
        state.opened[state.team] = True
    elif isinstance(melds[0], Run):
        state.opening = (melds[0].suit, "run", 0)
    else:
        state.opening = (melds[0].rank, "set", 0)


def _random_hand(state: State, rng: random.Random, suits: list[str], ranks: list[str], size: int) -> None:
    """Cards that the table takes, cards of the chosen suits and ranks, wilds, and some others."""
    near = _cards_near(state)
    for _ in range(size):
        wishes = [
            [card for card in state.stock if card in near],
            [card for card in state.stock if card != "JK" and (card[1] == suits[0] or card[0] in ranks)],
            [card for card in state.stock if is_wild(card)],
            state.stock,
        ]
        card = rng.choice(rng.choices(wishes, [5, 5, 1, 2])[0] or state.stock)
        state.hand.append(card)
        state.stock.remove(card)


def _cards_near(state: State) -> list[str]:
    """Cards that go on the team's melds, or would after one more."""
    near = []
    for meld in melds_of(state, state.team):
        if isinstance(meld, Run):
            reach = [meld.low - 2, meld.low - 1, meld.high + 1, meld.high + 2, *([meld.wild_pos] if meld.wild else [])]
            near += [card_at(meld.suit, p) for p in reach if LOW_ACE <= p <= HIGH_ACE]
        else:
            near += [meld.rank + suit for suit in SUITS]
    return near


def _random_duties(state: State, rng: random.Random) -> None:
    """As if the pile had been taken this turn: perhaps one card, perhaps a top card to be used and locked cards."""
    rules, took = state.rules, rng.choice([0, 0, 1, 1, 2, 3])
    if not took or took >= len(state.hand):
        return
    pile = rng.sample(state.hand, took)
    if rules["pile_take"] != "free":
        pile.sort(key=lambda card: card in _cards_near(state) or is_wild(card))
        state.top = pile[-1]
        if rules["pile_justify"] == "hand_and_table":
            state.locked = pile[:-1]
    if took == 1 and rules["single_card_rediscard"] == "twin_only":
        state.single = pile[0]


def _random_mortos(state: State, rng: random.Random) -> None:
    rules = state.rules
    state.taken = [rng.randint(0, rules["mortos_per_team"]) for _ in range(2)]
    if sum(state.taken) > rules["num_mortos"]:
        state.taken = [1, 1]
    left = rules["num_mortos"] - sum(state.taken)
    state.mortos = [[state.stock.pop() for _ in range(rules["morto_size"])] for _ in range(left)]
    if rules["stock_end"] == "mortos_join" and rng.random() < 0.3:
        state.stock += [card for morto in state.mortos[::-1] for card in morto[::-1]]
        state.mortos = []
