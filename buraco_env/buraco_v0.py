"""`from buraco_env import buraco_v0; env = buraco_v0.env()`, as PettingZoo's own environments are used.

The number moves only when a trained agent would notice.
"""

from buraco_env.aec import env, raw_env

__all__ = ["env", "raw_env"]
