"""Buraco, a partnership rummy, as an environment for learning agents."""

from buraco_env.game import Game, IllegalAction, Meld
from buraco_env.kernel.actions import KINDS, NUM_ACTIONS
from buraco_env.kernel.candidates import FEATURES
from buraco_env.kernel.observe import OBSERVATION, STATE
from buraco_env.position import PositionError
from buraco_env.rules import Rules, RulesError, rule_names

__all__ = [
    "FEATURES",
    "KINDS",
    "NUM_ACTIONS",
    "OBSERVATION",
    "STATE",
    "Game",
    "IllegalAction",
    "Meld",
    "PositionError",
    "Rules",
    "RulesError",
    "rule_names",
]
