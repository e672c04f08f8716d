"""The game on the table: the session, what people's commands mean, its past, the walk through the final scoring."""
