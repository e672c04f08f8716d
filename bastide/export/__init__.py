"""Exports: a game for JCloisterZone, a picture of the result, printable sheets."""
