"""File handling: atomic writes, uploads in pieces, the table's secrets, the program's own log."""
