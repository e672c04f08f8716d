"""From looks at the table to the game that explains them: belief, histories, and decisions.

`reading.game.GameReader` is the entry point. There are no pixels here, and no rules engine in `vision`.
"""
