"""A table as text: what everybody sees, and the hand of one seat."""

from __future__ import annotations

from buraco_env.game import Game

_SUIT_SIGNS = str.maketrans("CDHS", "♣♦♥♠")
_WIDTH = 78


def pretty(card: str) -> str:
    """A card's text with the sign of its suit: `7♥`, `10` as T, a wild with its star."""
    return card if card.startswith("JK") else card[0] + card[1:].translate(_SUIT_SIGNS)


def table_text(game: Game, seat: int | None = None) -> str:
    """The table as a few lines of text, with the hand of `seat` (by default the one to move) and no other."""
    seat = game.seat if seat is None else seat
    lines = [_title(game), ""]
    for team in (0, 1):
        lines += _team(game, team)
    pile = game.pile
    top = pretty(pile[-1]) if pile else "empty"
    lines.append(f"stock {game.stock_size}   mortos {game.mortos_left}   pile {len(pile)}: {_fold(pile)}[{top}]")
    sizes = (f"player {s}: {len(game.hand(s))}" for s in range(game.rules.num_seats))
    lines.append("cards in hand   " + "   ".join(sizes))
    hand = " ".join(pretty(card) for card in game.hand(seat))
    lines.append(f"player {seat} holds  {hand or '-'}")
    return "\n".join(lines) + "\n"


def _title(game: Game) -> str:
    if game.over:
        return f"deal over ({game.end_reason}) after {game.turn} turns: {game.scores()[0]} to {game.scores()[1]}"
    return f"turn {game.turn}   player {game.seat} to {game.phase}"


def _team(game: Game, team: int) -> list[str]:
    """A team's melds, as many on a line as fit; canastas in brackets."""
    seats = " and ".join(str(s) for s in range(team, game.rules.num_seats, 2))
    mortos = game.morto_taken(team)
    lines = [f"team {team} (player {seats})" + (f", morto taken{f' {mortos} times' * (mortos > 1)}" * bool(mortos))]
    line = "  "
    for meld in game.melds(team):
        text = " ".join(pretty(card) for card in meld.cards)
        text = f"[{text}]" if meld.is_canasta else text
        if len(line) + len(text) > _WIDTH and line.strip():
            lines.append(line.rstrip())
            line = "  "
        line += text + "   "
    return [*lines, line.rstrip() if line.strip() else "  no melds", ""]


def _fold(pile: list[str]) -> str:
    """The cards below the top, the oldest left out where they are many."""
    below = [pretty(card) for card in pile[:-1]]
    shown = below[-12:]
    return ("… " if len(below) > len(shown) else "") + " ".join(shown) + (" " if shown else "")
