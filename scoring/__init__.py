"""The game: tiles, rules, events, scores. Standard library only.

What may not enter this room: pixels, HTTP, files other than its own packaged data, clocks, randomness.
"""
