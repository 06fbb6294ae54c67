"""Buraco, a partnership rummy, as an environment for learning agents."""

from buraco_env import buraco_v0
from buraco_env.aec import env, raw_env, register
from buraco_env.batch_env import BatchEnv, Views
from buraco_env.game import Game, IllegalAction, Meld, View
from buraco_env.kernel.actions import KINDS, NUM_ACTIONS
from buraco_env.kernel.candidates import FEATURES
from buraco_env.kernel.observe import OBSERVATION, STATE
from buraco_env.match import Match
from buraco_env.position import PositionError
from buraco_env.rules import Rules, RulesError, rule_names

__all__ = [
    "FEATURES",
    "KINDS",
    "NUM_ACTIONS",
    "OBSERVATION",
    "STATE",
    "BatchEnv",
    "Game",
    "IllegalAction",
    "Match",
    "Meld",
    "PositionError",
    "Rules",
    "RulesError",
    "View",
    "Views",
    "buraco_v0",
    "env",
    "raw_env",
    "rule_names",
]

register()
