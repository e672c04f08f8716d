"""Making what bastide's small network has learned. Needed to train it again, never to run the program."""
