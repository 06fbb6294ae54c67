"""A person at a terminal: the agent `human`, and `python -m agents.human` for a deal or a match against agents.

What is printed before a decision is made from the seat's `View` alone, and so tells of no hidden card.
"""

from __future__ import annotations

import io
import secrets
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, NamedTuple, TextIO

import numpy as np
import typer

from agents.answers import COMMANDS, read
from agents.base import Agent, AgentError, Array, checked_ids
from agents.registry import make, reason
from agents.screen import RULER, Event, cards_text, news_lines, recent, score_sheet, screen, seen, team_name
from agents.scripted import weights_of
from buraco_env import BatchEnv, Game, Rules, RulesError, View, Views
from buraco_env.kernel.deal import MAX_DERIVED_SEED
from buraco_env.match import Ledger, deal_seed
from buraco_env.render.ansi import table_text
from buraco_env.rules_text import describe

HINT = "search:playouts=400"
DEALS = 100  # of the unseen cards, that a hint plays out for its numbers
UNDO = -1  # an answer that is no action: take back the last one
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
            chosen = checked_ids(self.agent.act(batch.views()), 1)
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
        self.person.say("\n".join([RULER, *news_lines(self.news, self.seat, self.game.rules), ""]))
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
            say(f"You draw {cards_text(got.elements())}.")
            self._no_undo = "you have drawn from the stock since"
        elif game.morto_taken(team) > before.morto_taken(team):
            say(f"You take a morto: {cards_text(game.hand(self.seat))}")
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
    person.say(f"{team_name(int(ledger.winner), seat % 2)} wins the match")
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
