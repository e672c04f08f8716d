"""A whole game as a group plays it: three devices, three languages, wrong readings, the end and a look back."""

from __future__ import annotations

import pytest
from pageviews import picture
from webtable import EVENTS, JPEG, PLAYERS, misread

from scoring.engine import fold
from scoring.events import GameEnded, Setup, TilePlaced
from scoring.rules import edition

expect = pytest.importorskip("playwright.sync_api").expect


def wrong_readings() -> dict[TilePlaced, TilePlaced]:
    """Three tiles of the game that are taken for another one; no figure is put on them."""
    out: dict[TilePlaced, TilePlaced] = {}
    least = 8
    while len(out) < 3:
        n, wrong, true = misread(least)
        if isinstance(EVENTS[EVENTS.index(true) + 1], TilePlaced):
            out[true] = wrong
            least = n + 15
        else:
            least = n + 1
    return out


def touch(page, at) -> None:
    box = page.locator(f"[id='at-{at[0]}-{at[1]}'] use").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def test_a_whole_game(serve, visit):
    mistakes = wrong_readings()
    silent, asked, late = mistakes
    session, server = serve(0)
    tablet = visit(server.url, locale="de-DE", color_scheme="dark")
    phone = visit(server.url, 390, 844, locale="fr-FR")
    television = visit(server.url + "tv", 1920, 1080)
    waiting = 0

    def everybody_sees(event: TilePlaced) -> None:
        for device in (tablet, phone, television):
            expect(device.locator(f"[id='at-{event.at[0]}-{event.at[1]}']")).to_have_attribute("data-tile", event.tile)

    for event in EVENTS:
        wrong = mistakes.get(event) if isinstance(event, TilePlaced) else None
        if wrong is None:
            session.commit((event,), confidence=0.97, asked=False)
            waiting -= waiting > 0
            if waiting == 1:  # the question was put off; meanwhile the game went on
                tablet.locator("#bar .questions").click()
                tablet.locator("[data-key='choice-1']").click()
                everybody_sees(late)
            continue
        session.commit((wrong,), confidence=0.55, asked=event != silent, crop=JPEG,
                       alternatives=(((wrong,), 0.55), ((event,), 0.4)))
        if event == silent:  # seen by somebody: two taps
            everybody_sees(wrong)
            touch(tablet, event.at)
            tablet.locator(f".candidate[data-tile='{event.tile}'][data-rot='{event.rot}']").click()
            everybody_sees(event)
            tablet.keyboard.press("Escape")
        elif event == asked:
            expect(phone.locator("#sheet h2")).to_have_text("Quelle tuile est-ce ?")
            picture(phone, "game-question-fr")
            phone.locator("[data-key='choice-1']").click()
            everybody_sees(event)
        else:
            tablet.locator("[data-key='later']").click()
            phone.locator("[data-key='later']").click()
            waiting = 6
            expect(tablet.locator(".score .about")).not_to_have_count(0)
    assert session.view()["questions"] == []
    session.commit((GameEnded(),), confidence=1.0, asked=False)
    true = fold(Setup(players=PLAYERS, rules=edition("zman2012")), (*EVENTS, GameEnded())).scores
    steps = sum(len(stage["events"]) for stage in session.view()["final"]["stages"])
    for n in range(steps):
        tablet.locator("[data-key='next']").click()
        expect(tablet.locator("#reveal progress")).to_have_attribute("value", str(n + 1))
    tablet.locator("[data-key='next']").click()
    expect(phone.locator("#reveal .winner")).to_contain_text("gagne")
    tablet.locator("[data-key='next']").click()
    expect(tablet.locator(".totals tfoot td")).to_have_text([str(n) for n in true])
    picture(tablet, "game-end-de")
    expect(television.locator(".totals tfoot td")).to_have_text([str(n) for n in true])
    picture(television, "game-end-tv")
    for n, total in enumerate(true):
        expect(tablet.locator(f".player[data-player='{n}'] .score")).to_have_text(str(total))
    tablet.locator("[data-key='bar.more']").click()
    tablet.locator("[data-key='menu.replay']").click()
    tablet.locator(".scrub").fill("35")
    expect(tablet.locator(".tiles .tile")).to_have_count(37)
    picture(tablet, "game-replay-de")
    tablet.locator("[data-key='live']").click()
    expect(tablet.locator(".tiles .tile")).to_have_count(len(session.view()["board"]["tiles"]))
    assert len(session.past.corrections()) == 3
