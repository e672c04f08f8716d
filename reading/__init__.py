"""From looks at the table to the game that explains them: belief, histories, and what to tell.

`reading.game.GameReader` is the door. No pixels here, and no engine in `vision`.
"""
