"""stub"""
from __future__ import annotations
class FigureReading: ...
def find_figures(*a, **k): return ()
