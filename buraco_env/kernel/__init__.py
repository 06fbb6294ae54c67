"""The game as pure functions over one record: no learning, no input or output, no text."""
