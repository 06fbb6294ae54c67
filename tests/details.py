"""What the tests of the rules' details share: a position in a line of text, actions in words."""

from buraco_env import Game, Rules, rule_names

ACE_TO_KING = "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH"
TWO_TO_ACE = "2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AH"
CANASTA = "4H 5H 6H 7H 8H 9H TH"


def presets(**fields: object) -> list[str]:
    """The presets that have these values."""
    return [name for name in rule_names() if all(getattr(Rules.load(name), f) == v for f, v in fields.items())]


def at(text: str) -> Game:
    """The game of a position text, its lines parted by semicolons; what is left out is dealt, always alike."""
    return Game.from_position(text.replace(";", "\n"), seed=1)


def legal(game: Game) -> set[str]:
    """The legal actions in words."""
    return {game.describe(action) for action in game.legal_actions()}


def moves(game: Game) -> set[str]:
    """The legal melds, lay-offs and swaps in words."""
    return {text for text in legal(game) if text.startswith(("meld", "lay off", "swap"))}


def discards(game: Game) -> set[str]:
    """The cards that may be discarded."""
    return {text.split()[1] for text in legal(game) if text.startswith("discard")}


def after(game: Game, *actions: str) -> Game:
    """The game after these actions, each of which must be legal; the game given stays as it is."""
    game = game.copy()
    for action in actions:
        game.play(action)
    return game


def table(game: Game, team: int = 0) -> list[str]:
    """A team's melds as text."""
    return [str(meld) for meld in game.melds(team)]


def high(game: Game) -> str:
    """How the words of a wild's lay-off end: only where wilds are fixed it has an end to choose."""
    return " high" if game.rules.wild_moves == "fixed" else ""
