"""Pictures of tiles: the sets that a table is watched with, and the learned pictures of the owner's tiles."""
