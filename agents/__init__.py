"""Players of Buraco: `agents.make("greedy")`; all of them by `python -m agents`.

>>> agent = agents.make("random")
>>> agent.reset(seed=7)
>>> actions = agent.act(batch.views())
"""

from agents.base import Agent, AgentError
from agents.registry import make, names

__all__ = ["Agent", "AgentError", "make", "names"]
