"""Pictures of tiles: the sets that a table is watched with, what was learned of the owner's own."""
