"""Training of bastide's small networks. Not needed to run the program."""
