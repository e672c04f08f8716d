"""The machine that bastide runs on: its health, its updates, the card's boot file, systemd, signals, memory."""
