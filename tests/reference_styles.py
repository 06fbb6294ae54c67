"""The slow twin of the scripted players' evaluation: on the reference's states, in cards and lists.

Weights are a dict by their names in `buraco_env.kernel.weights.WEIGHTS`; values are tenths of a point.
"""

from dataclasses import dataclass
from functools import cache

from buraco_env import Game
from buraco_env.cards import RANKS
from tests import reference as ref
from tests.bridge import action_tuple, to_reference


@cache
def number_of(action: tuple) -> int:
    """The id of the reference's action."""
    return _numbers()[action]


@cache
def _numbers() -> dict:
    from buraco_env import NUM_ACTIONS

    return {action_tuple(number): number for number in range(NUM_ACTIONS)}


def places(card: str) -> list[int]:
    """Where a natural card may stand in a run."""
    return [1, 14] if card[0] == "A" else [RANKS.index(card[0]) + 1]


def is_near(card: str, other: str) -> bool:
    """As naturals, two cards could meld: of one rank, or of one suit and at most two places apart."""
    if "JK" in (card, other):
        return False
    if card[0] == other[0]:
        return True
    return card[1] == other[1] and any(abs(here - there) <= 2 for here in places(card) for there in places(other))


def of_its_rank(card: str, cards: list[str]) -> int:
    return sum(other[0] == card[0] and other != "JK" for other in cards)


def count_near(card: str, cards: list[str]) -> int:
    return sum(is_near(card, other) for other in cards)


@dataclass
class Seen:
    """What a seat knows of hidden cards: those known in each hand, the cards it can't place, what each discarded."""

    known: list[list[str]]
    unseen: list[str]
    discarded: list[list[str]]


def seen(game: Game, state: ref.State) -> Seen:
    view, seats = game.view(game.seat), range(game.rules.num_seats)
    bottom = state.stock[: int(game.record.bottom)]
    open_cards = [*state.hand, *state.pile, *bottom]
    open_cards += [card for team in (0, 1) for meld in ref.melds_of(state, team) for card in meld.all_cards()]
    open_cards += [card for seat in seats if seat != state.seat for card in view.known(seat)]
    known = [view.known(seat) for seat in seats]
    return Seen(known, ref.without(ref.full_deck(state.rules), open_cards), [view.discarded(seat) for seat in seats])


class Mind:
    """A scripted player of the seat to move: what it thinks of actions."""

    def __init__(self, state: ref.State, weights: dict[str, int], seen: Seen) -> None:
        self.state, self.w, self.seen = state, weights, seen
        self.rules, self.team, self.seats = state.rules, state.team, state.rules["num_seats"]

    # ------------------------------------------------------------ the deal as a whole

    def others_may_close(self) -> bool:
        return self._may_close(1 - self.team)

    def _may_close(self, team: int) -> bool:
        """An empty hand would be going out: no morto to come, and a canasta that allows it."""
        state = ref.copy(self.state)
        state.seat = team
        return not ref.may_take_morto(state) and ref.has_canasta_to_close(state)

    def _partner_holds(self) -> int | None:
        return len(self.state.hands[(self.state.seat + 2) % 4]) if self.seats == 4 else None

    def danger(self) -> int:
        """Steps of danger that the deal ends, 0 to 4."""
        stock, end = len(self.state.stock), self.rules["stock_end"]
        if end == "mortos_join":
            stock += sum(map(len, self.state.mortos))
        if end == "last_two":
            stock -= 2
        steps = [0, (16 - stock) // 4]
        if self.others_may_close():
            steps.append(5 - min(len(self.state.hands[seat]) for seat in range(1 - self.team, self.seats, 2)))
        return min(4, max(steps))

    def urgency(self) -> int:
        """More for points, in percent."""
        partner = self._partner_holds()
        helped = max(0, 5 - partner) if partner is not None and self._may_close(self.team) else 0
        return self.danger() * self.w["urgent"] + helped * self.w["help"]

    def open_score(self, team: int) -> int:
        melds = ref.melds_of(self.state, team)
        lying = sum(ref.points_of(meld.all_cards(), self.rules) + ref.bonus(meld, self.rules) for meld in melds)
        return lying + self.rules["bonus_morto"] * self.state.taken[team]

    # ------------------------------------------------------------ hands

    def in_hand(self, wild: str, urgency: int) -> int:
        """What a wild is worth in the hand."""
        return self.w["joker" if wild == "JK" else "two"] * max(200 - urgency, 0) // 200

    def out(self) -> int:
        """Going out."""
        hands, seat = self.state.hands, self.state.seat
        theirs = sum(len(hands[other]) for other in range(1 - self.team, self.seats, 2))
        ours = sum(len(hands[other]) for other in range(self.team, self.seats, 2) if other != seat)
        ahead = self.open_score(self.team) - self.open_score(1 - self.team)
        value = 10 * self.rules["bonus_out"] + self.w["out"]
        value += theirs * self.w["out_theirs"] - ours * self.w["out_ours"]
        return value + ahead * self.w["out_ahead"] // 10 - len(self.state.stock) * self.w["out_stock"]

    def hand_of(self, size: int, closes: bool) -> int:
        """Ending the turn with so many cards."""
        size = min(max(size, 0), 8)
        if ref.may_take_morto(self.state):
            return self.w[f"morto_{size}"]
        if not closes:
            return self.w[f"stuck_{size}"]
        return self.w[f"close_{size}"] + (self.out() if size == 0 else 0)

    # ------------------------------------------------------------ melds

    def progress(self, meld: ref.Run | ref.Set_ | None) -> int:
        if meld is None or len(meld) >= 7:
            return 0
        return self.w[f"{'dirty' if meld.wild else 'clean'}_{len(meld)}"]

    def change(self, before: ref.Run | ref.Set_ | None, after: ref.Run | ref.Set_) -> int:
        """What it is worth that a meld becomes another: canasta bonus and progress."""
        bonus = ref.bonus(after, self.rules) - (ref.bonus(before, self.rules) if before else 0)
        return self.w["bonus"] * bonus + self.progress(after) - self.progress(before)

    def meld(self, action: tuple) -> int:
        """A meld, a lay-off or a swap, less what it must be worth to be laid."""
        state, w, urgency = self.state, self.w, self.urgency()
        then = ref._lay(state, action)
        laid = ref.cards_of(action)
        [after] = changed(then, state, self.team)
        before = next(iter(changed(state, then, self.team)), None)
        value = ref.points_of(laid, self.rules) * w["points"] * (100 + urgency) // 100 + self.change(before, after)
        freed = ref.without(then.hand, ref.without(state.hand, laid))
        for wild in freed:
            value += self.in_hand(wild, urgency) - w["points"] * ref.card_points(wild, self.rules)
        wild = action[-1] if action[0] != "lay" and action[0] != "lay set" else None
        if wild:
            value -= self.in_hand(wild, urgency)
            laid = ref.without(laid, [wild])
        value -= sum(card[0] == "2" for card in laid) * w["natural_two"]
        if self.seats == 4 and self._partner_holds() <= 2 and ref.may_take_morto(state):
            value -= len(ref.cards_of(action)) * w["wait"]
        closes = ref.has_canasta_to_close(state)
        closes_then = closes or ref.has_canasta_to_close(then)
        kept = 0 if state.phase == "extra" else 1  # for the discard
        value += w["first_canasta"] * (closes_then and not closes)
        value += self.hand_of(len(then.hand) - kept, closes_then) - self.hand_of(len(state.hand) - kept, closes)
        return value - w["meld_from"]

    # ------------------------------------------------------------ discards

    def table_gain(self, team: int, card: str) -> int | None:
        """What a natural card would do on a team's table at best, 0 or more; None if it fits nowhere."""
        state = ref.copy(self.state)
        state.seat, state.hands[team] = team, [card]
        gains = []
        for action in ref._lay_offs(state, [card]):
            then = ref._lay(state, action)
            [after], [before] = changed(then, state, team), changed(state, then, team)
            gains.append(self.change(before, after))
        return max([0, *gains]) if gains else None

    def discard(self, card: str) -> int:
        state, w, danger = self.state, self.w, self.danger()
        value = (w["shed"] + danger * w["shed_danger"]) * ref.card_points(card, self.rules)
        if ref.is_wild(card):
            return value - w["shed_wild"] - w["joker" if card == "JK" else "two"]
        theirs, ours = (self.table_gain(team, card) for team in (1 - self.team, self.team))
        if theirs is not None:
            value -= w["feed"] + danger * w["feed_danger"] + w["feed_pile"] * len(state.pile)
            value -= theirs * w["feed_gain"] // 100
        if ours is not None:
            value -= w["fits_ours"] + ours * w["ours_gain"] // 100
        if state.hand.count(card) > 1:
            value -= w["pair"]
        value -= (count_near(card, state.hand) - 1) * w["near"]
        following = (state.seat + 1) % self.seats
        value -= count_near(card, self.seen.known[following]) * w["feed_known"]
        value += of_its_rank(card, self.seen.discarded[following]) * w["feed_dropped"]
        if self.rules["pile_justify"] == "whole_pile":
            value -= count_near(card, state.pile) * w["feed_buried"]
            if of_its_rank(card, state.pile) >= 2:
                value -= (len(state.pile) + 1) * w["feed_open"]
        return value - count_near(card, self.seen.unseen) * w["feed_unseen"]

    # ------------------------------------------------------------ the pile

    def plan(self, guarded: bool) -> tuple[int, "Mind"]:
        """What the melds are worth that would be laid from here one after the other, and what comes of it."""
        mind, total = self, 0
        while mind.state.hand:
            moves = ref._melds(mind.state, {}) if guarded else ref.table_moves(mind.state)
            if not moves:
                break
            best = min(moves, key=lambda action: (-mind.meld(action), number_of(action)))
            if mind.meld(best) <= 0 and not mind.state.top:
                break
            total += mind.meld(best) + mind.w["meld_from"]
            mind = Mind(ref._lay(mind.state, best), self.w, self.seen)
        return total - mind.danger() * len(mind.state.hand) * self.w["take_danger"], mind

    def take(self) -> int:
        """Taking the pile, over drawing."""
        state, w, hand = self.state, self.w, len(self.state.hand)
        with_pile, _ = Mind(ref._take_pile(state), w, self.seen).plan(True)
        drawing = ref.copy(state)
        drawing.phase = "meld"
        without_pile, then = Mind(drawing, w, self.seen).plan(False)
        closes = ref.has_canasta_to_close(state)
        value = with_pile + self.hand_of(hand + len(state.pile) - 1, closes)
        value -= without_pile + self.hand_of(hand - 1, closes)
        value = value * w["take_melds"] // 100
        left, closes = len(then.state.hand), ref.has_canasta_to_close(then.state)
        lays, keeps = then.hand_of(left - 1, closes), then.hand_of(left, closes)
        value += lays - (w["draw_lays"] * lays + (100 - w["draw_lays"]) * keeps) // 100
        return value + w["take"] + len(state.pile) * w["take_card"]

    def value(self, action: tuple) -> int:
        """What it thinks of a legal action."""
        if action[0] == "take pile":
            return self.take()
        if action[0] == "discard":
            return self.discard(action[1])
        return 0 if action[0] in ("draw", "end turn") else self.meld(action)

    def choice(self, actions: list[tuple]) -> tuple:
        """What it plays: the pile if that is worth more than nothing, the best meld if it is, else the best discard."""
        values = {action: self.value(action) for action in sorted(actions, key=number_of)}
        melds = [action for action in values if action[0].startswith(("meld", "lay"))]
        rest = [action for action in values if action not in melds]
        if ("take pile",) in rest:
            return max(rest, key=lambda action: values[action])
        best = max(melds, key=lambda action: values[action], default=None)
        if best and (values[best] > 0 or not rest):
            return best
        return max(rest, key=lambda action: values[action])


def changed(state: ref.State, other: ref.State, team: int) -> list:
    """The melds of a team that lie otherwise in another state, or not at all."""
    melds = ref.melds_of(state, team)
    for meld in ref.melds_of(other, team):
        if meld in melds:
            melds.remove(meld)
    return melds


def mind_of(game: Game, weights: dict[str, int]) -> Mind:
    """The scripted player of the seat to move in a game."""
    state = to_reference(game)
    return Mind(state, weights, seen(game, state))
