"""The composition root: command line, settings, the table's session, the store. The only room that knows all others."""

__version__ = "0.1.0"
