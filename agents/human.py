"""A person at a terminal: the agent `human`, and `python -m agents.human` for a deal or a match against agents.

What is printed before a decision is made from the seat's `View` alone, and so tells of no hidden card.
"""

from __future__ import annotations

import io
import re
import secrets
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Annotated, NamedTuple, TextIO

import numpy as np
import typer

from agents.base import Agent, AgentError, Array, nearest
from agents.registry import make, reason
from agents.scripted import weights_of
from buraco_env import KINDS, OBSERVATION, BatchEnv, Game, Rules, RulesError, View, Views
from buraco_env.cards import card_text, parse_card
from buraco_env.kernel.deal import MAX_DERIVED_SEED
from buraco_env.match import Ledger, deal_seed
from buraco_env.render.ansi import pretty, table_text
from buraco_env.rules_text import describe

Event = tuple[int, str]  # a seat and what it did

HINT = "search:playouts=400"
DEALS = 100  # of the unseen cards, that a hint plays out for its numbers
UNDO = -1  # an answer that is no action: take back the last one
VERBS = ("draw", "take pile", "meld", "lay off", "swap", "discard", "end turn")
GROUPS = {"Draw": ("draw", "take pile"), "Meld": ("meld",), "Lay off": ("lay off", "swap"), "End the turn": ("",)}
SMALL = {*" ".join(VERBS).split(), "on", "into", "set", "low", "high"}  # words of an action that are no cards
LETTERS = str.maketrans("♣♦♥♠", "CDHS")
TEN = re.compile(r"\b10(?=[CDHS]\b)|(?<=set )10\b", re.IGNORECASE)  # elsewhere T is how a verb begins
WIDTH = 78
RULER = "\n" + "=" * WIDTH
COMMANDS = {
    "help": "this list (also ?); an empty line shows the table again",
    "hint": "what a search would play, and what it expects",
    "seen": "the whole pile, cards known to be in a hand, and what everybody has discarded",
    "rules": "the rules of this game in words",
    "undo": "take back your last meld, lay-off, swap or pile, until you draw from the stock or take a morto",
    "quit": "leave the table (also Ctrl-C)",
}
ALIASES = {"?": "help", "q": "quit", "exit": "quit"}
HELP = """\
Answer with the number of an action or with its text, in small or large letters; a beginning will do where it is clear:
`dis 7h` for discard 7H, `lay 7h` for lay off 7H on 4H-6H. Cards are rank and suit: A 2 … 9 T J Q K, C♣ D♦ H♥ S♠; JK is
a joker, a star marks a wild. In the table canastas stand in brackets, as does the top of the pile. Other answers:
"""


class Guest(NamedTuple):
    """An agent at a person's table, and the spec that an AgentError names where it fails."""

    spec: str
    agent: Agent

    def reset(self, seed: int) -> None:
        """Start anew with this seed."""
        with _faults_of(self.spec):
            self.agent.reset(seed)

    def choose(self, game: Game) -> int:
        """The legal id that it plays in a game, of which it sees what the seat to move may know."""
        batch = BatchEnv(1, game.rules, seed=0)
        batch.restore(np.array([game.record], batch.records.dtype))
        with _faults_of(self.spec):
            chosen = np.asarray(self.agent.act(batch.views()))
            if chosen.shape != (1,) or chosen.dtype.kind not in "iu":
                raise TypeError(f"expected one id, got shape {chosen.shape} of {chosen.dtype}")
            game.copy().play(int(chosen[0]))  # raises IllegalAction with the reason
        return int(chosen[0])


@contextmanager
def _faults_of(spec: str) -> Iterator[None]:
    """Make any error an AgentError of one line that names an agent."""
    try:
        yield
    except (Exception, SystemExit) as error:  # of a class that anybody may have written
        raise AgentError(f"{spec} failed: {reason(error)}") from error


class Human:
    """A person who is asked at a terminal; `hint`: the spec of the agent who is asked for a hint.

    `source` and `out`: the text streams, by default those of the process. Whoever asks must set no limit of time.
    """

    takes_time = True

    def __init__(self, hint: str = HINT) -> None:
        self.adviser = Guest(hint, make(hint))
        self.source: TextIO | None = None
        self.out: TextIO | None = None
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Start anew: hints depend on this seed."""
        self.seed = seed
        self.adviser.reset(seed)

    def say(self, text: str, end: str = "\n") -> None:
        """Write a text."""
        print(text, end=end, file=self.out or sys.stdout, flush=True)

    def ask(self, prompt: str) -> str:
        """The next line of input; KeyboardInterrupt, as by Ctrl-C, where the person quits or the input ends."""
        self.say(prompt, end="")
        line = self._line()
        answer = ALIASES.get(line.strip().lower(), line.strip())
        if not line or answer.lower() == "quit":
            raise KeyboardInterrupt  # which is no Exception: nobody should take it for a fault
        return answer

    def _line(self) -> str:
        """The next line of input, "" at its end; nothing comes from a stream that is closed or can't be read either."""
        source = self.source or sys.stdin  # which is None in a process that was started without
        try:
            return "" if source is None or source.closed else source.readline()
        except OSError:  # the terminal is gone, say
            return ""

    def act(self, views: Views) -> Array:
        """What the person answers in each view, one after the other: [n] int64."""
        chosen = np.zeros(len(views), np.int64)
        for i in range(len(views)):
            if len(views) > 1:
                self.say(f"\nDeal {views.index[i]}: {i + 1} of {len(views)} that wait for you")
            view = views[i]
            chosen[i] = self.decide(view, recent(view), "an agent's answer is final; `python -m agents.human` can undo")
        return chosen

    def decide(self, view: View, news: Sequence[Event], no_undo: str) -> int:
        """The legal id that the person chooses, or UNDO; `no_undo`: why nothing can be taken back, "" if it can."""
        self.say(screen(view, news))
        while True:
            answer = self.ask(f"player {view.seat}, choose 1 to {len(view.legal_actions())} (or help): ")
            command = answer.lower()
            if command == "undo" and not no_undo:
                return UNDO
            if command in ("", *COMMANDS):
                self.say(self._told(view, command, no_undo))
                continue
            try:
                return read(view, answer)
            except ValueError as error:
                self.say(str(error))

    def _told(self, view: View, command: str, no_undo: str) -> str:
        """What a command that plays nothing has to say."""
        if command == "undo":
            return f"can't undo: {no_undo}"
        if command == "help":
            return HELP + "\n".join(f"  {name:<6} {line}" for name, line in COMMANDS.items())
        tell = {"": screen, "hint": self._hint, "rules": lambda view: describe(view.rules), "seen": seen}
        return tell[command](view)

    def _hint(self, view: View) -> str:
        """The advice, or why there is none: a game goes on without."""
        try:
            return self.advice(view)
        except AgentError as error:
            return f"no hint: {error}"

    def advice(self, view: View) -> str:
        """What the adviser plays, and the mean lead after the three best actions, by play-outs of `steady`."""
        actions, choice = np.array(view.legal_actions(), np.int64), self.adviser.choose(view.resample(0))
        weights, seeds = weights_of("steady", view.rules), np.random.default_rng(self.seed).integers(0, 2**62, DEALS)
        first = view.compare(actions, seeds[: max(1, 4 * DEALS // len(actions))], weights).mean(0)
        some = np.union1d(actions[np.argsort(-first, kind="stable")[:3]], choice)
        means = view.compare(some, seeds, weights).mean(0)
        lines = [f"  {means[at]:+6.0f}  {view.describe(int(some[at]))}" for at in np.argsort(-means, kind="stable")]
        head = f"{self.adviser.spec} plays: {view.describe(choice)}\nyour lead at the end, the mean of {DEALS} deals"
        return "\n".join([f"{head} of the cards you can't see, played on by `steady`:", *lines])


def read(view: View, answer: str) -> int:
    """The legal id that an answer means; a ValueError says what was given and what is allowed."""
    actions = view.legal_actions()
    if answer.isdecimal():
        if 1 <= int(answer) <= len(actions):
            return actions[int(answer) - 1]
        raise ValueError(f"{answer}: the actions are numbered from 1 to {len(actions)}")
    words, game = as_written(answer), view.resample(0)  # any game that the seat can't tell from the real one
    try:
        chosen = game.parse(words)
    except ValueError as error:
        return _by_beginning(view, answer, words, str(error))
    if chosen not in actions:
        game.play(chosen)  # raises IllegalAction, which is a ValueError, with the reason
    return chosen


def as_written(answer: str) -> str:
    """An answer as an action is written: the verb in full, where its beginning is clear, cards in capitals."""
    words = TEN.sub("T", answer.translate(LETTERS)).split()
    begun = [verb.split() for verb in VERBS if verb.startswith(words[0].lower())]
    if len(begun) == 1:
        (verb,) = begun
        twice = len(words) > 1 and len(verb) > 1 and verb[1].startswith(words[1].lower())
        words = verb + words[2 if twice else 1 :]
    return " ".join(word.lower() if word.lower() in SMALL else word.upper() for word in words)


def _by_beginning(view: View, answer: str, words: str, unread: str) -> int:
    """The one legal id whose words begin like these; `unread`: why they are no whole action."""
    actions, parts = view.legal_actions(), [word.replace("*", "") for word in words.split()]
    begun = re.compile(r"\S* ".join(map(re.escape, parts)), re.IGNORECASE)
    # a word of stars alone says nothing, and anything begins with nothing
    found = [action for action in actions if all(parts) and begun.match(view.describe(action))]
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(f"{answer!r} may be several actions: {', '.join(map(view.describe, found))}")
    if words.startswith(VERBS):
        raise ValueError(f"no legal action begins so: {unread}")
    known = f"{nearest(answer.lower(), (*COMMANDS, *VERBS))}; or a number from 1 to {len(actions)}"
    raise ValueError(f"{answer!r} is no answer here; {known}, or an action in words")


def screen(view: View, news: Sequence[Event] = ()) -> str:
    """The table as the seat may see it, with what others did and what the seat may do."""
    lines = [RULER, *_news_lines(news, view.seat, view.rules), ""]
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
    parts = [f"{_team(t, view.team)}: {lying[t] + rules.bonus_morto * view.morto_taken(t)}" for t in (0, 1)]
    match = f"\nmatch so far   {before[0]} to {before[1]}, target {rules.target}" if any(before) else ""
    return f"points on the table   {'   '.join(parts)}{match}"


def _team(team: int, mine: int) -> str:
    return f"team {team}" + (" (yours)" if team == mine else "")


def _player(seat: int, mine: int, rules: Rules) -> str:
    partner = seat != mine and seat % 2 == mine % 2 and rules.num_seats == 4
    return f"player {seat}" + (" (your partner)" if partner else "")


def _news_lines(news: Iterable[Event], mine: int, rules: Rules) -> list[str]:
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
    lines = [f"the pile, top last: {_cards(view.pile)}"]
    for seat in range(view.rules.num_seats):
        known = f"   surely holds: {_cards(view.known(seat))}" if view.known(seat) else ""
        lines.append(f"{_player(seat, view.seat, view.rules)} discarded: {_cards(view.discarded(seat))}{known}")
    return "\n".join(lines)


def _cards(cards: Iterable[str]) -> str:
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
    rows = [("", *(_team(team, seat % 2) for team in (0, 1))), *rows, ("the deal", *game.scores())]
    return "\n".join(f"{name:<22}{first:>16}{second:>16}".rstrip() for name, first, second in rows)


class Table:
    """A deal that a person plays in one seat and agents in the others; `game` is how it stands."""

    def __init__(self, game: Game, seat: int, person: Human, others: dict[int, Guest]) -> None:
        self.game, self.seat, self.person, self.others = game, seat, person, others
        self.news: list[Event] = []  # since the person's last action
        self._before: list[Game] = []  # the game before each action of the person that can be taken back
        self._no_undo = "you have done nothing yet"

    def play(self) -> Game:
        """The game at its end; what the person should know of it is said."""
        while not self.game.over:
            (self._ask_person if self.game.seat == self.seat else self._ask_agent)()
        self.person.say("\n".join([RULER, *_news_lines(self.news, self.seat, self.game.rules), ""]))
        self.person.say(f"{table_text(self.game, self.seat)}\n{score_sheet(self.game, self.seat)}")
        return self.game

    def _ask_person(self) -> None:
        choice = self.person.decide(self.game.view(self.seat), self.news, "" if self._before else self._no_undo)
        self.news = []
        if choice == UNDO:
            self.game = self._before.pop()
            return
        before = self.game.copy()
        self.game.play(choice)
        self._keep(before, before.describe(choice))

    def _keep(self, before: Game, text: str) -> None:
        """Keep the game before an action of the person for `undo`, or say what it brought that nobody can forget."""
        game, team = self.game, self.seat % 2
        got, say = Counter(game.hand(self.seat)) - Counter(before.hand(self.seat)), self.person.say
        if text == "draw":
            say(f"You draw {_cards(got.elements())}.")
            self._no_undo = "you have drawn from the stock since"
        elif game.morto_taken(team) > before.morto_taken(team):
            say(f"You take a morto: {_cards(game.hand(self.seat))}")
            self._no_undo = "you have taken a morto since"
        elif game.seat == self.seat:
            self._before.append(before)
            return
        self._before = []
        if game.seat != self.seat:
            self._no_undo = "your last turn has passed, and in this one you have done nothing yet"

    def _ask_agent(self) -> None:
        seat, before = self.game.seat, self.game.copy()
        try:
            choice = self.others[seat].choose(before)
        except AgentError as error:
            raise AgentError(f"player {seat}, {error}") from error
        self.game.play(choice)
        self.news.append((seat, before.describe(choice)))
        if self.game.morto_taken(seat % 2) > before.morto_taken(seat % 2):
            self.news.append((seat, "take a morto"))


def seated(rules: Rules, seat: int, partner: str, against: str, seed: int) -> dict[int, Guest]:
    """The agents of the seats that the person leaves; AgentError if there is no such seat or agent."""
    if not 0 <= seat < rules.num_seats:
        raise AgentError(f"seat {seat} is not at this table; seats: 0 to {rules.num_seats - 1}")
    free = (other for other in range(rules.num_seats) if other != seat)
    specs = {other: partner if other % 2 == seat % 2 else against for other in free}
    others = {other: Guest(spec, make(spec)) for other, spec in specs.items()}
    for guest in others.values():
        guest.reset(seed)
    return others


def play_match(rules: Rules, seed: int, seat: int, person: Human, others: dict[int, Guest]) -> Ledger:
    """The account of a match that is over; after each deal the person is told how it stands."""
    ledger = Ledger(rules)
    while not ledger.over:
        game = Game(rules, deal_seed(seed, ledger.deals), ledger.starter, match_scores=ledger.scores)
        ledger.add(Table(game, seat, person, others).play().scores())
        person.say(f"\nafter deal {ledger.deals}: {ledger.scores[0]} to {ledger.scores[1]}, target {rules.target}")
        if not ledger.over:
            person.ask("Enter for the next deal: ")
    person.say(f"{_team(int(ledger.winner), seat % 2)} wins the match")
    return ledger


def main(
    against: Annotated[str, typer.Option(metavar="SPEC", help="the agent in your opponents' seats")] = "steady",
    partner: Annotated[str, typer.Option(metavar="SPEC", help="the agent in your partner's seat")] = "steady",
    rules: Annotated[str, typer.Option(help="a preset's name or the path of a .toml file")] = "classic",
    seed: Annotated[int | None, typer.Option(min=0, max=MAX_DERIVED_SEED, help="of the cards and the agents")] = None,
    seat: Annotated[int, typer.Option(help="yours")] = 0,
    match: Annotated[bool, typer.Option("--match", help="play deals to the target of the rules")] = False,
    hint: Annotated[str, typer.Option(metavar="SPEC", help="the agent who gives hints")] = HINT,
) -> None:
    """Play a deal or a match of Buraco at the terminal, with agents in the other seats."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without suit signs is no reason to fall
    seed = secrets.randbelow(2**31) if seed is None else seed
    try:
        game_rules, person = Rules.load(rules), Human(hint)
        person.reset(seed)
        others = seated(game_rules, seat, partner, against, seed)
        person.say(f"{game_rules}, seed {seed}: you are player {seat}. Type help for help.")
        if match:
            play_match(game_rules, seed, seat, person, others)
        else:
            Table(Game(game_rules, seed), seat, person, others).play()
    except (AgentError, RulesError) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("\nYou have left the table.")


if __name__ == "__main__":
    typer.run(main)
