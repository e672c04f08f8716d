"""The evening book: what is kept of every finished game, and what all of them together say of the players."""
