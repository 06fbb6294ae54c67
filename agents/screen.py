"""What a person at the terminal is shown: the table as a seat may see it, what has happened, the reckoning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from buraco_env import KINDS, OBSERVATION, Game, Rules, View
from buraco_env.cards import card_text, parse_card
from buraco_env.render.ansi import pretty, table_text

Event = tuple[int, str]  # a seat and what it did
GROUPS = {"Draw": ("draw", "take pile"), "Meld": ("meld",), "Lay off": ("lay off", "swap"), "End the turn": ("",)}
WIDTH = 78
RULER = "\n" + "=" * WIDTH


def screen(view: View, news: Sequence[Event] = ()) -> str:
    """The table as the seat may see it, with what others did and what the seat may do."""
    lines = [RULER, *news_lines(news, view.seat, view.rules), ""]
    lines.append(table_text(view.resample(0), view.seat) + _standing(view))
    if view.must_use:
        lines.append(f"You must meld {pretty(view.must_use)}, the top card of the pile you took.")
    if view.phase == "extra":
        lines.append("You took a morto by your discard: meld and lay off, then end the turn.")
    return "\n".join([*lines, *_options(view)])


def _standing(view: View) -> str:
    """Points that lie open, and the match where one has begun."""
    rules, before = view.rules, view.match_scores
    lying = [sum(meld.points + meld.bonus for meld in melds) for melds in view.melds]
    parts = [f"{team_name(t, view.team)}: {lying[t] + rules.bonus_morto * view.morto_taken(t)}" for t in (0, 1)]
    match = f"\nmatch so far   {before[0]} to {before[1]}, target {rules.target}" if any(before) else ""
    return f"points on the table   {'   '.join(parts)}{match}"


def team_name(team: int, mine: int) -> str:
    return f"team {team}" + (" (yours)" if team == mine else "")


def _player(seat: int, mine: int, rules: Rules) -> str:
    partner = seat != mine and seat % 2 == mine % 2 and rules.num_seats == 4
    return f"player {seat}" + (" (your partner)" if partner else "")


def news_lines(news: Iterable[Event], mine: int, rules: Rules) -> list[str]:
    """A line for each seat's turn: what it did."""
    turns = groupby(news, key=lambda event: event[0])
    return [f"{_player(seat, mine, rules)}: {', '.join(text for _, text in turn)}" for seat, turn in turns]


def recent(view: View) -> list[Event]:
    """What others did since this seat's last action, as far as an observation remembers the last public actions."""
    piece = OBSERVATION["history"]
    news: list[Event] = []
    for who, kind, card in view.observation[piece.slice].reshape(piece.shape).tolist():
        if who <= 1:
            break
        name, shown = KINDS[kind - 1], card_text(card - 1) if card else ""
        verb = "lay off" if name.startswith("lay") else "meld, with" if "run" in name or "set" in name else name
        news.insert(0, ((view.seat + who - 1) % view.rules.num_seats, f"{verb} {shown}".strip()))
    return news


def _options(view: View) -> list[str]:
    """The legal actions by kind, numbered in the order of their ids."""
    groups: dict[str, list[str]] = {}
    for number, action in enumerate(view.legal_actions(), 1):
        text = view.describe(action)
        group = next(name for name, verbs in GROUPS.items() if text.startswith(verbs))
        groups.setdefault(group, []).append(f"{number:>4} {text}")
    lines = []
    for group, entries in groups.items():
        width = max(map(len, entries)) + 2
        across = max(1, WIDTH // width)
        rows = [entries[first : first + across] for first in range(0, len(entries), across)]
        lines += [group, *("".join(f"{entry:<{width}}" for entry in row).rstrip() for row in rows)]
    return lines


def seen(view: View) -> str:
    """What a perfect memory holds: the pile from bottom to top, cards known to be in hands, all discards."""
    lines = [f"the pile, top last: {cards_text(view.pile)}"]
    for seat in range(view.rules.num_seats):
        known = f"   surely holds: {cards_text(view.known(seat))}" if view.known(seat) else ""
        lines.append(f"{_player(seat, view.seat, view.rules)} discarded: {cards_text(view.discarded(seat))}{known}")
    return "\n".join(lines)


def cards_text(cards: Iterable[str]) -> str:
    return " ".join(map(pretty, cards)) or "-"


def reckoning(game: Game, team: int) -> dict[str, int]:
    """What a team's score of a deal that is over is made of, in points."""
    rules, record, melds, seats = game.rules, game.record, game.melds(team), range(team, game.rules.num_seats, 2)
    left = {seat: sum(rules.points(parse_card(card)) for card in game.hand(seat)) for seat in seats}
    return {
        "cards melded": sum(meld.points for meld in melds),
        "clean canastas": sum(meld.bonus for meld in melds if meld.is_clean),
        "dirty canastas": sum(meld.bonus for meld in melds if not meld.is_clean),
        "going out": rules.bonus_out * int(record.out_team == team),
        "mortos taken": rules.bonus_morto * game.morto_taken(team),
        "no morto taken": -rules.penalty_no_morto * (not game.morto_taken(team)),
        "morto not used": -rules.penalty_unused_morto * sum(int(record.waiting[seat]) for seat in seats),
        **{f"cards left, player {seat}": -points for seat, points in left.items()},
    }


def score_sheet(game: Game, seat: int) -> str:
    """The reckoning of a deal that is over, both teams side by side; rows that are nothing for both are left out."""
    parts = [reckoning(game, team) for team in (0, 1)]
    names = [name for name in parts[0] | parts[1] if any(part.get(name) for part in parts)]
    rows = [(name, *(part.get(name, "") for part in parts)) for name in names]
    rows = [("", *(team_name(team, seat % 2) for team in (0, 1))), *rows, ("the deal", *game.scores())]
    return "\n".join(f"{name:<22}{first:>16}{second:>16}".rstrip() for name, first, second in rows)
