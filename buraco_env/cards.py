"""A card type as a small int: 0 to 51 are rank and suit, 52 is the joker.

`card = suit * 13 + rank - 1`, suits C D H S as 0 to 3, ranks A to K as 1 to 13. The two packs hold each of the 52
twice: an int names a type, never one piece of cardboard. Text is rank and suit, `7H`; a joker is `JK`.
"""

RANKS = "A23456789TJQK"
SUITS = "CDHS"
NUM_RANKS = len(RANKS)
NUM_SUITS = len(SUITS)
JOKER = NUM_SUITS * NUM_RANKS
NUM_CARD_TYPES = JOKER + 1
JOKER_TEXT = "JK"
COPIES = 2  # of each type but the joker, in two packs


def make_card(rank: int, suit: int) -> int:
    """The card of a rank (1 to 13) and a suit (0 to 3)."""
    return suit * NUM_RANKS + rank - 1


def rank_of(card: int) -> int:
    """The rank, 1 (ace) to 13 (king); 0 for a joker."""
    return 0 if card == JOKER else card % NUM_RANKS + 1


def suit_of(card: int) -> int:
    """The suit, 0 to 3; -1 for a joker."""
    return -1 if card == JOKER else card // NUM_RANKS


def is_joker(card: int) -> bool:
    return card == JOKER


def is_two(card: int) -> bool:
    return rank_of(card) == 2


def is_wild(card: int) -> bool:
    """Whether the card may act as a wild: a joker or a two."""
    return is_joker(card) or is_two(card)


def card_text(card: int) -> str:
    """The two letters of a card: `7H`, `JK`."""
    if not 0 <= card < NUM_CARD_TYPES:
        raise ValueError(f"{card} is not a card: cards are 0 to {JOKER}")
    return JOKER_TEXT if card == JOKER else RANKS[rank_of(card) - 1] + SUITS[suit_of(card)]


def parse_card(text: str) -> int:
    """The card that `card_text` writes so; a ValueError says how a card is written."""
    if text == JOKER_TEXT:
        return JOKER
    if len(text) == 2 and text[0] in RANKS and text[1] in SUITS:
        return make_card(RANKS.index(text[0]) + 1, SUITS.index(text[1]))
    meant = text.upper().replace("10", "T")
    if meant != text and (meant == JOKER_TEXT or (len(meant) == 2 and meant[0] in RANKS and meant[1] in SUITS)):
        raise ValueError(f"{text!r} is not a card: write {meant!r}")
    raise ValueError(f"{text!r} is not a card: write a rank of {RANKS} and a suit of {SUITS}, as 7H, or {JOKER_TEXT}")
