"""The server has as many threads as are needed at the same time: each keeps memory of its own."""

from __future__ import annotations

import queue
import threading
import urllib.request

import pytest

from web.threads import SPARE, TaskDispatcher


class Task:
    """Begins, and ends when it is told to."""

    def __init__(self) -> None:
        self.begun, self.end, self.thread = threading.Event(), threading.Event(), 0

    def service(self) -> None:
        self.thread = threading.get_ident()
        self.begun.set()
        assert self.end.wait(60)

    def cancel(self) -> None:
        self.end.set()


class Watched(threading.Condition):
    """Tells when a thread begins to wait for a task."""

    def __init__(self, lock: threading.Lock) -> None:
        super().__init__(lock)
        self.waits: queue.SimpleQueue[None] = queue.SimpleQueue()

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.put(None)
        return super().wait(timeout)


@pytest.fixture
def dispatcher():
    made = TaskDispatcher(6)
    made.queue_cv = Watched(made.lock)
    yield made
    made.shutdown(timeout=60)


def all_idle(dispatcher: TaskDispatcher) -> bool:
    with dispatcher.lock:
        return not dispatcher.queue and not dispatcher.stop_count and not dispatcher.active_count


def begin(dispatcher: TaskDispatcher, count: int) -> list[Task]:
    tasks = [Task() for _ in range(count)]
    for task in tasks:
        dispatcher.add_task(task)
    return tasks


def finish(dispatcher: TaskDispatcher, tasks: list[Task]) -> None:
    for task in tasks:
        assert task.begun.wait(60)
        task.end.set()
    while not all_idle(dispatcher):
        dispatcher.queue_cv.waits.get(timeout=60)


def left(dispatcher: TaskDispatcher, count: int) -> None:
    """Wait until no more threads are left, and all of them wait."""
    with dispatcher.lock:
        assert dispatcher.thread_exit_cv.wait_for(lambda: len(dispatcher.threads) == count, 60)
    while not all_idle(dispatcher):
        dispatcher.queue_cv.waits.get(timeout=60)


def test_one_after_another_they_need_one_thread(dispatcher):
    assert dispatcher.count == 0
    for _ in range(10):
        finish(dispatcher, begin(dispatcher, 1))
    assert dispatcher.count == 1


def test_all_at_once_they_have_one_each_up_to_the_most(dispatcher):
    tasks = begin(dispatcher, 9)
    for task in tasks[:6]:
        assert task.begun.wait(60)
    assert dispatcher.count == 6 and not any(task.begun.is_set() for task in tasks[6:])
    finish(dispatcher, tasks)
    assert len({task.thread for task in tasks}) == 6


def test_what_nobody_needed_for_a_while_ends(dispatcher):
    finish(dispatcher, begin(dispatcher, 6))
    dispatcher.retire()  # six were needed just now
    assert dispatcher.count == 6
    finish(dispatcher, begin(dispatcher, 1))
    dispatcher.retire()
    left(dispatcher, SPARE + 1)
    dispatcher.retire()
    left(dispatcher, SPARE)
    dispatcher.retire()
    assert dispatcher.count == SPARE
    finish(dispatcher, begin(dispatcher, 6))  # and they come back
    assert dispatcher.count == 6


def test_without_another_thread_the_others_answer(dispatcher, monkeypatch):
    def none(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    first = begin(dispatcher, 1)
    monkeypatch.setattr(threading.Thread, "start", none)
    second = begin(dispatcher, 1)
    assert dispatcher.count == 1
    finish(dispatcher, first + second)
    assert second[0].thread == first[0].thread
    monkeypatch.undo()
    begun = begin(dispatcher, 2)
    finish(dispatcher, begun)
    assert dispatcher.count == 2


def test_what_is_asked_again_and_again_takes_no_thread_each_time(serve):
    _, server = serve()
    for _ in range(30):
        with urllib.request.urlopen(server.url + "api/state", timeout=60) as answer:
            assert answer.read()
    # A thread may not wait again when its answer has arrived already.
    assert 1 <= sum(thread.name.startswith("waitress-") for thread in threading.enumerate()) < 10
