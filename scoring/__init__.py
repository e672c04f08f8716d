"""The game: tiles, rules, events, scores. Standard library only.

This package must not use images, HTTP, files other than its own packaged data, clocks or randomness.
"""
