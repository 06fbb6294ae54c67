"""A person at the terminal: what is shown, how answers are read, undo, hints, and ways to leave."""

import io
import random
import re
import subprocess
import sys

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import agents
from agents.answers import read
from agents.human import Guest, Human, Table, main, play_match, seated
from agents.screen import recent, reckoning
from buraco_env import BatchEnv, Game, Rules, rule_names
from tests.positions import random_moments
from tests.test_view import hidden_swapped

ONES = "1\n" * 5000
TABLE = "rules classic\nseat 0   starter 0   turn 8\nteam 0: 4H 5H 2S* 7H | 9C 9D 9S\n"


def sitting(text: str, hint: str = "steady") -> Human:
    """A person whose answers are these lines."""
    person = Human(hint)
    person.source, person.out = io.StringIO(text), io.StringIO()
    return person


def table(game: Game, text: str, seat: int = 0, others: str = "steady") -> Table:
    return Table(game, seat, sitting(text), seated(game.rules, seat, others, others, 1))


def answered(position: str, text: str) -> tuple[Game, str]:
    """How a deal stands when the answers have run out, and all that was printed."""
    seat = table(Game.from_position(position, seed=1), text)
    with pytest.raises(KeyboardInterrupt):
        seat.play()
    return seat.game, seat.person.out.getvalue()


def command(*arguments: str, text: str = ""):
    app = typer.Typer()
    app.command()(main)
    return CliRunner().invoke(app, arguments, input=text)


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("preset", rule_names())
def test_a_deal_by_numbers_and_its_score_sheet(preset: str, seats: int) -> None:
    played = table(Game(preset, seed=4, num_seats=seats), ONES, seat=seats - 1)
    game, shown = played.play(), played.person.out.getvalue()
    assert game.over and tuple(sum(reckoning(game, team).values()) for team in (0, 1)) == game.scores()
    assert "team 1 (yours)" in shown and shown.split()[-2:] == [str(score) for score in game.scores()]


@pytest.mark.parametrize("preset", ["classic", "online", "fechado", "aberto_sujo"])
def test_every_action_is_read_from_its_text(preset: str) -> None:
    for game in random_moments(preset, 3, 0.1):
        view = game.view(game.seat)
        for number, action in enumerate(view.legal_actions(), 1):
            text = view.describe(action)
            for answer in (str(number), text, text.lower(), f" {text.upper()}  "):
                assert view.describe(read(view, answer)) == text


POSITION = TABLE + "phase meld\nhand 0: TH 7H 6H KC KD KS 3D 9H"


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("dis 7h", "discard 7H"),
        ("di 10♥", "discard TH"),
        ("DI 10h", "discard TH"),
        ("lay 9h", "lay off 9H on set 9"),
        ("sw 6h", "swap 6H into 4H-7H"),
        ("meld kc", "meld KC KD KS"),
        ("m ks kd kc", "meld KC KD KS"),
    ],
)
def test_a_clear_beginning_will_do(answer: str, action: str) -> None:
    game = Game.from_position(POSITION, seed=1)
    assert game.describe(read(game.view(0), answer)) == action


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("99", "99: the actions are numbered from 1 to "),
        ("0", "0: the actions are numbered from 1 to "),
        ("dis", "'dis' may be several actions: discard KC, "),
        ("discard 4s", "discard 4S: the hand holds no 4S"),
        ("draw", "draw: you have drawn already"),
        ("end", "end turn: a turn ends with a discard"),
        ("discard 4x", "'4X' is not a card"),
        ("lay 7h on 3s-5s", "names no meld of your team: 4H-7H, set 9"),
        ("hnt", "'hnt' is no answer here; did you mean 'hint'?"),
        ("(*", "or a number from 1 to "),
        ("*", "'*' is no answer here"),
        ("** meld", "'** meld' is no answer here"),
        ("* d", "'* d' is no answer here"),
        ("meld *", "no legal action begins so: "),
        ("10 pile", "'10 pile' is no answer here"),
        ("10 *", "'10 *' is no answer here"),
    ],
)
def test_a_wrong_answer_is_explained_and_asked_again(answer: str, message: str) -> None:
    game, shown = answered(POSITION, f"{answer}\n")
    assert message in shown and shown.count("choose 1 to") == 2
    assert str(game) == str(Game.from_position(POSITION, seed=1))


def test_an_empty_line_shows_the_table_again() -> None:
    assert answered(POSITION, "\n")[1].count("player 0 holds") == 2


def test_help_rules_and_what_was_seen() -> None:
    shown = answered(POSITION + "\ndiscarded 1: 3C 8D\npile: 3C 8D\nknown 2: 5C", "?\nHELP\nrules\nseen\n")[1]
    assert shown.count("take back your last meld") == 2
    assert "Classic Buraco (classic)" in shown and "Four play, partners opposite each other." in shown
    assert "pile, top last: 3♣ 8♦" in shown and "player 1 discarded: 3♣ 8♦" in shown
    assert "player 2 (your partner) discarded: -   surely holds: 5♣" in shown


@pytest.mark.parametrize(
    "answers", ["meld kc kd ks", "lay 9h", "swap 6h", "swap 6h\nmeld kc kd ks\nlay 2s on set k\nlay 9h"]
)
def test_undo_restores_the_very_position(answers: str) -> None:
    back = "undo\n" * len(answers.splitlines())
    game, shown = answered(POSITION, f"{answers}\n{back}")
    assert str(game) == str(Game.from_position(POSITION, seed=1)) and "can't undo" not in shown
    assert shown.count("choose 1 to") == 1 + 2 * len(answers.splitlines())  # every answer was an action
    assert "can't undo: you have done nothing yet" in answered(POSITION, f"{answers}\n{back}undo\n")[1]


def test_undo_gives_a_pile_back() -> None:
    text = TABLE + "phase draw\nhand 0: TH JH KC KD KS 3D\npile: 3S 8H"
    game, shown = answered(text, "take\nlay 8h\nundo\nundo\n")
    assert str(game) == str(Game.from_position(text, seed=1))
    assert "You must meld 8♥" in shown


def test_undo_goes_no_further_than_a_draw() -> None:
    text = TABLE + "phase draw\nhand 0: TH JH KC KD KS 3D\npile: 3S 8H"
    game, shown = answered(text, "draw\nmeld kc kd ks\nundo\nundo\n")
    drawn = Game.from_position(text, seed=1)
    drawn.play("draw")
    assert str(game) == str(drawn) and "You draw " in shown
    assert "can't undo: you have drawn from the stock since" in shown


def test_undo_gives_back_no_morto_and_no_turn() -> None:
    text = TABLE + "phase meld\nhand 0: KC KD KS"
    game, shown = answered(text, "meld kc kd ks\nundo\n")
    assert game.morto_taken(0) == 1 and "You take a morto: " in shown
    assert "can't undo: you have taken a morto since" in shown
    shown = answered(POSITION, "discard 3d\nundo\n")[1]
    assert "can't undo: your last turn has passed" in shown


def test_a_morto_taken_by_a_discard_is_played_on_and_not_undone() -> None:
    game, shown = answered(TABLE + "phase meld\nhand 0: 3C", "discard 3c\nundo\n")
    assert game.phase == "extra" and "can't undo: you have taken a morto since" in shown
    assert "You took a morto by your discard: meld and lay off, then end the turn." in shown


def test_a_hint_is_what_the_adviser_plays_and_what_it_expects() -> None:
    game = Game.from_position(POSITION, seed=1)
    person = sitting("hint\n1\n", hint="search:playouts=40")
    person.reset(5)
    person.decide(game.view(0), [], "")
    shown = person.out.getvalue()
    adviser = agents.make("search:playouts=40")
    adviser.reset(5)
    assert f"search:playouts=40 plays: {game.describe(Guest('', adviser).choose(game))}\n" in shown
    leads = [int(line.split()[0]) for line in shown.splitlines() if re.match(r" +[+-]\d", line)]
    assert len(leads) in (3, 4) and leads == sorted(leads, reverse=True)


@pytest.mark.parametrize("preset", ["classic", "online", "fechado"])
def test_nothing_printed_depends_on_hidden_cards(preset: str) -> None:
    rng, answers = (
        random.Random(4),
        "hint\nseen\nundo\ndiscard 3c\nmeld 4h 5h 6h\ntake\ndraw\nmeld 4h 4c jk\nend\nlay jk",
    )
    for game in random_moments(preset, 8, 0.03):
        if not game.over:
            shown = [printed(one, answers) for one in (game, hidden_swapped(game, game.seat, rng))]
            assert shown[0] == shown[1], f"{game}"


def printed(game: Game, answers: str) -> str:
    """All that an agent `human` prints at a decision, and the news of it."""
    batch, person = BatchEnv(1, game.rules), sitting(f"{answers}\n{ONES}", hint="steady")
    batch.restore(np.array([game.record], batch.records.dtype))
    person.act(batch.views())
    return person.out.getvalue()


def test_the_table_shows_one_hand_and_hides_the_rest() -> None:
    text = "rules classic\nhand 0: 3C 4D\nhand 1: 8S 8S\nhand 2: 9H 9H\nhand 3: TD TD\npile: KC"
    shown = answered(text, "")[1]
    assert "player 0 holds  3♣ 4♦" in shown
    assert not any(card in shown for card in ("8♠", "9♥", "T♦"))


def test_others_are_told_of_in_words() -> None:
    game = Game("online", seed=3)
    for _ in range(3):
        game.play("draw")
        game.play(game.legal_actions()[-1])
    seats = (0, 1, 2)
    assert recent(game.view(3)) == [(s, text) for s in seats for text in ("draw", f"discard {game.pile[s]}")]
    assert f"player 1 (your partner): draw, discard {game.pile[1]}" in printed(game, "1")


def test_the_news_of_a_deal_name_every_action_but_no_drawn_card() -> None:
    played = table(Game("classic", seed=7), "1\ndiscard 8h\n")
    with pytest.raises(KeyboardInterrupt):
        played.play()
    shown = played.person.out.getvalue()
    assert "player 1: draw, " in shown and "player 2 (your partner): " in shown and "player 3: " in shown
    assert all(text == "draw" for _, text in played.news if text.startswith("draw"))


def test_an_agent_for_a_batch_asks_for_each_deal_and_undoes_nothing() -> None:
    batch, person = BatchEnv(2, "classic", seed=5), agents.make("human")
    person.source, person.out = io.StringIO("undo\n1\n1\n"), io.StringIO()
    assert person.act(batch.views()).tolist() == batch.legal[batch.offsets[:-1]].tolist()
    shown = person.out.getvalue()
    assert "Deal 1: 2 of 2 that wait for you" in shown and "can't undo: an agent's answer is final" in shown


def test_a_match_goes_on_to_its_target() -> None:
    rules, person = Rules.load("mini", target=50), sitting(ONES)
    ledger = play_match(rules, 2, 0, person, seated(rules, 0, "steady", "steady", 2))
    shown = person.out.getvalue()
    assert ledger.over and f"after deal {ledger.deals}: {ledger.scores[0]} to {ledger.scores[1]}" in shown
    assert "wins the match" in shown.splitlines()[-1]


@pytest.mark.parametrize("answer", ["*", "* draw", "10 *", "10 pile"])
def test_a_stray_answer_plays_nothing_where_one_action_is_left(answer: str) -> None:
    view = Game.from_position(TABLE + "phase draw\nhand 0: TH JH 3D\npile: 3S", seed=1).view(0)
    with pytest.raises(ValueError, match="is no answer here"):
        read(view, answer)


def test_a_set_of_tens_is_named_in_digits_too() -> None:
    text = "rules classic\nseat 0   turn 8\nteam 0: TC TD TS\nphase meld\nhand 0: TH 7H"
    game = Game.from_position(text, seed=1)
    assert game.describe(read(game.view(0), "lay 10h on set 10")) == "lay off TH on set T"


class Bad:
    """An agent that fails: by an error, by leaving the program, or by what it answers."""

    def __init__(self, how: str):
        self.how = how

    def reset(self, seed):
        if self.how == "reset":
            raise RuntimeError("not today")

    def act(self, views):
        if self.how == "exit":
            raise SystemExit(0)
        if self.how == "error":
            raise RuntimeError("out of ideas\nand of words")
        answers = {"empty": [], "shape": [[0]], "text": ["draw"], "nothing": None, "far": [10**6], "illegal": [3165]}
        return np.array(answers[self.how])


FAULTS = {
    "reset": "RuntimeError: not today",
    "error": "RuntimeError: out of ideas and of words",
    "exit": "SystemExit: 0",
    "empty": "TypeError: expected 1 ids, got shape (0,) of float64",
    "shape": "TypeError: expected 1 ids, got shape (1, 1) of int64",
    "text": "TypeError: expected 1 ids, got shape (1,) of <U4",
    "nothing": "TypeError: expected 1 ids, got shape () of object",
    "far": "IllegalAction: 1000000 is no action id: ids are 0 to ",
    "illegal": "IllegalAction: end turn: draw a card or take the pile first",
}


@pytest.mark.parametrize(("how", "fault"), FAULTS.items())
def test_an_agent_that_fails_in_a_seat_is_named_in_one_line(how: str, fault: str) -> None:
    spec = f"tests.test_human:Bad:how={how}"
    done = command("--seed", "7", "--against", spec, text=ONES)
    assert done.exit_code == 2 and f"{spec} failed: {fault}" in done.stderr and len(done.stderr.splitlines()) == 1
    assert how == "reset" or "error: player " in done.stderr


@pytest.mark.parametrize("how", sorted(set(FAULTS) - {"reset"}))
def test_a_hint_that_fails_says_so_and_the_game_goes_on(how: str) -> None:
    person = sitting("hint\n1\n", hint=f"tests.test_human:Bad:how={how}")
    view = Game.from_position(TABLE + "phase draw\nhand 0: TH JH 3D\npile: 3S", seed=1).view(0)
    assert person.decide(view, [], "") == view.legal_actions()[0]
    assert f"no hint: {person.adviser.spec} failed: {FAULTS[how]}" in person.out.getvalue()


@pytest.mark.parametrize("text", ["", "quit\n", "1\nQ\n"])
def test_one_may_leave(text: str) -> None:
    done = command("--seed", "7", text=text)
    assert done.exit_code == 0 and done.output.endswith("\nYou have left the table.\n")


@pytest.mark.parametrize("redirection", ["<&-", "0>/dev/null", "</dev/null"])
def test_an_input_that_is_closed_has_ended(redirection: str) -> None:
    line = f"exec {sys.executable} -m agents.human --seed 7 --hint steady {redirection}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.endswith("\nYou have left the table.\n")


def test_a_closed_stream_has_ended() -> None:
    person = sitting("1\n")
    person.source.close()
    with pytest.raises(KeyboardInterrupt):
        person.ask("")


def test_ctrl_c_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Human, "decide", interrupt)
    done = command("--seed", "7")
    assert done.exit_code == 0 and done.output.endswith("\nYou have left the table.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--against", "stedy"], "no agent 'stedy'; did you mean 'steady'?"),
        (["--hint", "serch"], "did you mean 'search'?"),
        (["--rules", "clasic"], "unknown rules 'clasic'"),
        (["--seat", "4"], "seat 4 is not at this table; seats: 0 to 3"),
    ],
)
def test_errors_are_one_line(arguments: list[str], message: str) -> None:
    done = command(*arguments)
    assert done.exit_code == 2 and message in done.stderr and len(done.stderr.splitlines()) == 1


def test_the_command_plays_a_deal_and_a_match() -> None:
    done = command("--rules", "mini", "--seed", "3", "--seat", "2", text=ONES)
    assert done.exit_code == 0 and "mini, seed 3: you are player 2" in done.output and "the deal" in done.output
    assert "wins the match" in command("--rules", "mini", "--seed", "3", "--match", text=ONES).output
