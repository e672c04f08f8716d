"""Files as such: written whole or not at all, received in pieces, the table's secrets, the program's own log."""
