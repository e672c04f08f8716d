"""Publishes a table's newest view to its subscribers."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from bastide.table.snapshot import GameSnapshot
from web.protocol import Subscription
from web.views import View


@dataclass(frozen=True, slots=True)
class Shown:
    """A view, and the snapshot of the game that it shows."""

    view: View
    moment: GameSnapshot


class Publisher:
    """Thread-safe. The lock is held only while handing over a view, never during disk access."""

    def __init__(self, first: Shown) -> None:
        self._lock = threading.Lock()
        self._shown = first
        self._subscribers: list[Subscription] = []

    @property
    def shown(self) -> Shown:
        """The published view, without waiting."""
        return self._shown

    def show(self, shown: Shown) -> None:
        """Publish a view. A slow subscriber gets only the newest."""
        with self._lock:
            self._shown = shown
            for subscription in self._subscribers:
                subscription.put(shown.view)

    def subscribe(self) -> Subscription:
        """A subscription that starts with the current view. Close it."""
        subscription = Subscription(self._unsubscribe)
        with self._lock:
            self._subscribers.append(subscription)
            subscription.put(self._shown.view)
        return subscription

    def _unsubscribe(self, subscription: Subscription) -> None:
        with self._lock:
            if subscription in self._subscribers:
                self._subscribers.remove(subscription)
