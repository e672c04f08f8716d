"""The page, its JSON API and its event streams."""
