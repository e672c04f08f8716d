"""The loop from frames to the log, and its monitors besides the tiles: lens, view, light, figures to take back."""
