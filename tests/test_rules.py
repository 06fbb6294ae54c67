"""The rules as data: every preset holds what its table says, and what can't be played is refused with the reason."""

import copy
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from buraco_env.cards import JOKER, NUM_CARD_TYPES, card_text, is_two, is_wild, make_card, parse_card, rank_of, suit_of
from buraco_env.rules import ALLOWED, RULE_FIELDS, WORDS, Rules, RulesError, rule_names

RULESETS = Path(__file__).parent.parent / "buraco_env" / "rulesets"

# The presets, typed a second time: "=" repeats the value to its left, a slash separates the values of several fields.
TABLE = """
field | classic | aberto | aberto_sujo | fechado | fechado_stcl | fechado_sujo | online | burraco
num_jokers | 4 | 0 | 4 | 4 | 4 | 4 | 4 | 4
upcard | redeal_joker | none | = | = | = | = | none | any
pile_take | use_top_this_turn | free | free | use_top_first | = | = | free | free
pile_justify | whole_pile | hand_and_table | = | = | = | = | hand_and_table | =
single_card_rediscard | twin_only | = | = | = | = | = | = | =
sets | yes | no | yes | yes | no | yes | yes | yes
sets_of_twos | yes | no | = | = | = | = | no | no
max_run | 13 | 14 | = | = | = | = | 14 | 14
ace_to_ace | forbidden | allowed | wild_only | allowed | = | = | allowed | wild_only
wild_min_run | 4 | 3 | = | = | = | = | 3 | 3
wild_low_end | ace_only | any | = | = | = | = | any | any
wild_moves | fixed | slides | = | = | = | = | resolves | resolves
close_with | any | clean | any | clean | clean | any | any | any
meld_out_morto | yes | yes | no | yes | yes | yes | yes | yes
meld_out_close | yes | yes | no | yes | yes | yes | yes | no
morto_after_discard | immediate | next_turn | = | = | = | = | next_turn | next_turn
final_discard_wild | allowed | allowed | = | = | = | = | only_if_unplayable | forbidden_closing
stock_end | after_turn | mortos_join | = | = | = | = | at_last_draw | last_two
first_meld_min | 0 | 0 | = | = | = | = | 0 | 0
points_joker/points_two | 30/20 | 20/10 | 30/20 | 20/10 | = | = | 30/20 | 30/20
points_ace/points_high/points_low | 15/10/5 | = | = | = | = | = | = | =
bonus_clean/bonus_dirty | 200/100 | = | = | = | = | = | 200/100 | 200/100
bonus_semi_clean | 0 | 0 | = | = | = | = | 0 | 150
bonus_royal/bonus_ace_to_ace | 0/0 | 500/1000 | 500/0 | 500/1000 | = | = | 0/0 | 0/0
penalty_no_morto | 100 | = | = | = | = | = | 100 | 100
penalty_unused_morto | 0 | 100 | 0 | 100 | 100 | 100 | 0 | 0
target | 3000 | 2000 | = | = | = | = | 2005 | 2005
tie | extra_deal | starter | = | = | = | = | extra_deal | extra_deal
"""

COMMON = {
    "hand_size": 11,
    "num_mortos": 2,
    "morto_size": 11,
    "mortos_per_team": 1,
    "bonus_out": 100,
    "bonus_morto": 0,
    "max_set": 0,
    "max_runs_per_suit": 6,
    "num_seats": 4,
    "max_turns": 400,
}

VARIANTS: dict[str, dict[str, Any]] = {
    "classic_italian": {"close_with": "clean", "first_meld_min": 50, "target": 2000},
    "classic_brazilian": {"wild_min_run": 3, "wild_low_end": "any"},
    "classic_two_player": {"num_seats": 2},
    "classic_fechado": {"close_with": "clean"},
    "classic_three_mortos": {"num_mortos": 3, "mortos_per_team": 2},
    "mini": {"hand_size": 5, "morto_size": 5, "target": 300},
}


def typed_presets() -> dict[str, dict[str, Any]]:
    """Preset -> field -> value, as the texts above have them."""
    head, *rows = ([cell.strip() for cell in line.split("|")] for line in TABLE.strip().splitlines())
    presets: dict[str, dict[str, Any]] = {name: dict(COMMON) for name in head[1:]}
    for fields, *cells in rows:
        for column, name in enumerate(head[1:]):
            if cells[column] == "=":
                cells[column] = cells[column - 1]
            for field, text in zip(fields.split("/"), cells[column].split("/"), strict=True):
                presets[name][field] = {"yes": True, "no": False}.get(text, int(text) if text.isdigit() else text)
    return presets | {name: presets["classic"] | changes for name, changes in VARIANTS.items()}


TYPED = typed_presets()


def refusal(rules: Any = "classic", **overrides: Any) -> str:
    """The message with which these rules are refused."""
    with pytest.raises(RulesError) as caught:
        Rules.load(rules, **overrides)
    return str(caught.value)


@pytest.mark.parametrize("name", TYPED)
def test_preset_is_what_the_table_says(name):
    assert Rules.load(name).values() == TYPED[name]


def test_presets_are_these_fourteen():
    assert set(rule_names()) == set(TYPED)
    assert len(rule_names()) == 14


@pytest.mark.parametrize("name", rule_names())
def test_preset_file_has_every_field_in_the_one_order(name):
    assert (RULESETS / f"{name}.toml").read_text(encoding="utf-8") == Rules.load(name).to_toml()


@pytest.mark.parametrize("name", rule_names())
def test_preset_has_a_title_in_each_language(name):
    assert list(Rules.load(name).titles) == ["en", "fr", "pt", "it"]
    assert all(Rules.load(name).titles.values())


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("name", rule_names())
def test_preset_plays_with_two_and_four_seats(name, seats):
    assert Rules.load(name, num_seats=seats).num_seats == seats


def test_alias_is_the_preset_it_stands_for():
    assert Rules.load("fechado_stbl").name == "fechado_stcl"


def test_words_stand_in_the_order_of_the_rules_page():
    assert WORDS["upcard"] == ("none", "bury_wilds", "redeal_joker", "any")
    assert WORDS["wild_moves"] == ("fixed", "slides", "resolves")
    assert WORDS["stock_end"] == ("after_turn", "at_last_draw", "mortos_join", "last_two")


def test_row_is_one_int_per_field():
    row = dict(zip(RULE_FIELDS, Rules.load("classic").row(), strict=True))
    assert (row["num_seats"], row["upcard"], row["sets"], row["wild_moves"], row["target"]) == (4, 2, 1, 0, 3000)
    assert all(type(value) is int for value in row.values())


def test_names_are_no_part_of_the_game():
    classic = Rules.load("classic")
    assert replace(classic, name="mine", titles={}) == classic
    assert hash(replace(classic, name="mine", titles={})) == hash(classic)
    assert Rules.load("classic", target=2000) != classic


def test_copies_and_pickles_are_equal():
    rules = Rules.load("fechado", target=505)
    assert copy.deepcopy(rules) == pickle.loads(pickle.dumps(rules)) == rules


@st.composite
def playable(draw):
    """Rules with some fields drawn at random, whenever no two of them contradict each other."""
    names = draw(st.lists(st.sampled_from(RULE_FIELDS), unique=True))
    changes = {name: draw(st.sampled_from(ALLOWED[name])) for name in names}
    try:
        return Rules.load(draw(st.sampled_from(rule_names())), **changes)
    except RulesError:
        return Rules.load("classic")


@given(playable())
def test_toml_and_text_read_back(rules):
    assert Rules.from_toml(rules.to_toml()) == rules
    assert Rules.parse(str(rules)) == rules


def test_text_names_the_preset_and_what_differs():
    assert str(Rules.load("classic", target=2000, sets_of_twos=False)) == "classic sets_of_twos=false target=2000"
    assert str(replace(Rules.load("fechado", target=505), name="mine")) == "fechado target=505"


def test_own_file_loads_under_its_name(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(Rules.load("online", target=505).to_toml(), encoding="utf-8")
    assert Rules.load(file) == Rules.load(str(file)) == Rules.load("online", target=505)
    assert Rules.load(file).name == "mine"


def test_unknown_preset_names_the_nearest():
    assert "'fechdo'" in refusal("fechdo")
    assert "did you mean 'fechado'" in refusal("fechdo")


def test_unknown_field_names_the_nearest():
    assert "unknown field 'targt', did you mean 'target'?" in refusal(targt=505)


def test_wrong_word_names_the_allowed_ones():
    message = refusal(wild_moves="slide")
    assert "wild_moves = 'slide' is not allowed, did you mean 'slides'?" in message
    assert "fixed, slides, resolves" in message


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("hand_size", 16, "3 to 15"),
        ("hand_size", "11", "3 to 15"),
        ("hand_size", 11.0, "3 to 15"),
        ("num_jokers", 2, "0, 4"),
        ("num_seats", 3, "2, 4"),
        ("num_seats", None, "2, 4"),
        ("sets", 1, "false, true"),
        ("num_mortos", True, "2, 3"),
        ("target", 0, "1 to 100000"),
        ("points_two", -5, "0 to 1000"),
        ("tie", ["starter"], "extra_deal, starter"),
    ],
)
def test_wrong_value_names_field_value_and_what_is_allowed(field, value, allowed):
    assert f"{field} = {value!r} is not allowed; allowed: {allowed}" in refusal(**{field: value})


@pytest.mark.parametrize(
    "overrides",
    [
        {"wild_min_run": 14, "max_run": 13},
        {"ace_to_ace": "allowed", "max_run": 13},
        {"ace_to_ace": "wild_only", "max_run": 13},
        {"sets": False, "sets_of_twos": True},
        {"sets": False, "sets_of_twos": False, "max_set": 7},
        {"num_mortos": 1, "mortos_per_team": 2},
        {"num_seats": 4, "hand_size": 15, "num_mortos": 3, "morto_size": 15, "num_jokers": 0, "upcard": "none"},
        {"num_seats": 4, "hand_size": 15, "num_mortos": 3, "morto_size": 12, "num_jokers": 4, "upcard": "bury_wilds"},
    ],
)
def test_contradiction_names_its_fields(overrides):
    message = refusal(**overrides)
    told = set(overrides) - ({"sets_of_twos"} if "max_set" in overrides else set())
    assert all(field in message for field in told)


@pytest.mark.parametrize(
    "overrides",
    [
        {"hand_size": 15, "num_mortos": 3, "morto_size": 12, "upcard": "any"},  # 12 cards left for the stock
        {"max_run": 14},  # ace to ace stays forbidden
        {"wild_min_run": 0},
        {"num_jokers": 0},
        {"hand_size": 3, "morto_size": 3},
        {"max_set": 3, "close_with": "clean"},
        {"pile_take": "use_top_first"},
    ],
)
def test_unusual_but_playable_rules_pass(overrides):
    assert Rules.load("classic", **overrides).differences(Rules.load("classic"))


def test_everything_wrong_is_told_at_once():
    message = refusal(hand_size=99, targt=1, sets=False)
    assert all(word in message for word in ("hand_size", "targt", "sets_of_twos"))


def test_record_checks_itself():
    with pytest.raises(RulesError, match="max_run = 15 is not allowed"):
        replace(Rules.load("classic"), max_run=15)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("tie = ", "tye = ", ["unknown field 'tye', did you mean 'tie'?", "missing field 'tie'"]),
        ("target = 3000\n", "", ["missing field 'target'; allowed: 1 to 100000"]),
        ("num_seats = 4", 'num_seats = "4"', ["num_seats = '4' is not allowed; allowed: 2, 4"]),
        ("sets = true", "sets = false", ["sets_of_twos = true needs sets = true"]),
        ("sets = true", "sets = yes", ["not TOML"]),
        ("aliases = []", "aliases = 3", ["aliases = 3 is not allowed"]),
        ('titles.fr = "', "titles.fr = 3 # ", ["titles = ", "is not allowed"]),
    ],
)
def test_bad_file_is_refused_with_its_name_and_the_reason(tmp_path, before, after, told):
    file = tmp_path / "mine.toml"
    text = Rules.load("classic").to_toml()
    assert before in text
    file.write_text(text.replace(before, after, 1), encoding="utf-8")
    message = refusal(file)
    assert all(part in message for part in [str(file), *told])


def test_missing_and_unreadable_files_are_refused(tmp_path):
    assert "nowhere.toml" in refusal(tmp_path / "nowhere.toml")
    assert "can't be read" in refusal(tmp_path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    assert "can't be read" in refusal(binary)


def test_text_with_a_bad_change_is_refused():
    with pytest.raises(RulesError, match="target = 'many' is not allowed"):
        Rules.parse("classic target=many")
    with pytest.raises(RulesError, match="unknown rules ''"):
        Rules.parse("")


def test_card_text_reads_back():
    texts = [card_text(card) for card in range(NUM_CARD_TYPES)]
    assert [parse_card(text) for text in texts] == list(range(NUM_CARD_TYPES))
    assert len(set(texts)) == NUM_CARD_TYPES == 53


def test_cards_have_rank_suit_and_kind():
    assert make_card(7, 2) == parse_card("7H") == 32
    assert (rank_of(32), suit_of(32)) == (7, 2)
    assert (rank_of(JOKER), suit_of(JOKER)) == (0, -1)
    assert [card_text(card) for card in range(NUM_CARD_TYPES) if is_wild(card)] == ["2C", "2D", "2H", "2S", "JK"]
    assert not is_two(JOKER)


@pytest.mark.parametrize(("text", "hint"), [("7h", "'7H'"), ("10S", "'TS'"), ("jk", "'JK'"), ("1H", "7H"), ("", "JK")])
def test_bad_card_text_says_how_cards_are_written(text, hint):
    with pytest.raises(ValueError, match="is not a card") as caught:
        parse_card(text)
    assert hint in str(caught.value)


def test_points_of_cards():
    points = Rules.load("classic").points
    assert [points(parse_card(text)) for text in ("JK", "2H", "AS", "8C", "KD", "3C", "7H")] == [
        30,
        20,
        15,
        10,
        10,
        5,
        5,
    ]
