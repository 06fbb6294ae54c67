"""Self-play training and its measure: `python -m train`, `python -m train.evaluate A B`."""
