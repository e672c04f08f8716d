"""The loop from frames to the log, and what it watches beside the tiles: lens, view, light, figures to take back."""
