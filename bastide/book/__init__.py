"""The evening book: what is kept of every finished game, and statistics over all of them."""
