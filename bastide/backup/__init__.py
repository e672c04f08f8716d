"""Backups, restoring them, copies on a second medium, and the support file."""
