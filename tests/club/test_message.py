"""Messages to the broker match the schemas, and reveal no more than the aid level shows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema_rs
import pytest
from webtable import table

from bastide.club.message import (
    LARGEST,
    NotAMessage,
    Sender,
    events,
    packed,
    schema,
    semantic_errors,
    slug,
    state,
    unpacked,
)
from bastide.log.store import Store

SENDER = Sender("Table 4", "0123456789ab", 3)


def told(view, **more):
    return state(view, SENDER, at_s=1763780000.0, **more)


@pytest.mark.parametrize("tiles", [1, 12, 72])
def test_states_of_a_real_game_are_what_the_schema_says(tmp_path, tiles):
    with Store(tmp_path / "t.sqlite") as store:
        session = table(store, tiles)
        view = session.view()
        if tiles == 72:
            view = session.command({"do": "end_game"})
        document = told(view)
        jsonschema_rs.validator_for(schema("state")).validate(document)  # another validator than the program's
        assert unpacked("state", packed(document)) == json.loads(packed(document))
        assert semantic_errors(document) == ""
        assert [p["score"] for p in document["players"]] == [p["score"] for p in view["players"]]
        assert len(document["board"]["tiles"]) == document["laid"] == len(view["board"]["tiles"])
        assert len(packed(document)) < 8000


def test_what_happens_is_told_once_and_a_correction_as_one(tmp_path):
    with Store(tmp_path / "t.sqlite") as store:
        session = table(store, 12)
        before, told_ = session.view(), []
        from webtable import after
        for event in after(12)[:40]:
            session.commit((event,), confidence=0.9, asked=False)
            told_ += events(before, session.view(), SENDER)
            before = session.view()
        validator = jsonschema_rs.validator_for(schema("event"))
        for event in told_:
            validator.validate(event)
        assert [e["score"]["points"] for e in told_ if e["kind"] == "score"] == \
            [[[p["player"], p["points"]] for p in row["points"]] for row in session.view()["feed"]][-len(told_):]
        scored = max(e["turn"] for e in session.view()["feed"])
        seq = next(h["seq"] for h in session.view()["history"] if h["kind"] == "tile" and h["turn"] == scored)
        session.command({"do": "retract", "seq": seq})
        assert [e["kind"] for e in events(before, session.view(), SENDER)] == ["corrected"]
        assert events(session.view(), session.view(), SENDER) == [] == events(None, session.view(), SENDER)
        before = session.view()
        session.command({"do": "end_game"})
        assert [e["kind"] for e in events(before, session.view(), SENDER)][-1] == "over"


def test_what_the_aid_level_hides_is_not_published(tmp_path):
    with Store(tmp_path / "t.sqlite") as store:
        session = table(store, 12)
        open_ = told(session.view())
        hidden = told({**session.view(), "aid": "score"})
        assert "left" in open_ and all("projected" in p for p in open_["players"])
        assert "left" not in hidden and not any("projected" in p for p in hidden["players"])
        assert not {"features", "projected_final", "questions", "history"} & {*open_, *hidden}


def test_names_become_levels_of_topics():
    assert slug("Table 4") == "table-4"
    assert slug("Tisch Öl/#+") == "tisch-ol"
    assert re.fullmatch(r"table-[0-9a-f]{8}", slug("卓四"))
    assert slug("卓四") != slug("卓五")


@pytest.mark.parametrize("payload", [
    b"", b"{}", b"[]", b"null", b"\xff\xfe", b'{"v":1}', b"9" * 5000, b"[" * 5000, b'{"v": NaN}', b"x" * (LARGEST + 1)])
def test_garbage_is_no_message(payload):
    for kind in ("state", "event", "command"):
        with pytest.raises(NotAMessage) as e:
            unpacked(kind, payload)
        assert len(str(e.value)) < 400


@pytest.mark.parametrize("change", [
    {"v": 2}, {"rev": -1}, {"rev": True}, {"rev": 1.5}, {"device": "x"}, {"table": ""}, {"table": "a\u202eb"},
    {"table": "x" * 61}, {"players": []}, {"aid": "all"}, {"expansions": ["<script>"]}, {"more": 1}, {"laid": 10**12},
    {"board": {"tiles": [[0, 0, "base.D", 4]], "figures": []}},
    {"board": {"tiles": [[0, 0, "D" * 50, 0]], "figures": []}},
    {"board": {"tiles": [[10**9, 0, "base.D", 0]], "figures": []}}], ids=repr)
def test_a_state_with_something_wrong_in_it_is_refused_whole(tmp_path, change):
    with Store(tmp_path / "t.sqlite") as store:
        document = told(table(store, 5).view())
        with pytest.raises(NotAMessage):
            unpacked("state", packed({**document, **change}))


def test_a_player_who_does_not_sit_there_is_noticed(tmp_path):
    with Store(tmp_path / "t.sqlite") as store:
        document = told(table(store, 5).view())
        assert semantic_errors({**document, "turn": {"number": 1, "player": 7}})
        assert semantic_errors({**document, "last": [{"turn": 1, "player": 0, "reason": "city", "formula": "",
                                                     "points": [[5, 3]]}]})
        assert semantic_errors({**document, "round": {"confirmed": [True] * 9}})


def test_the_schemas_are_those_of_the_documents():
    text = Path("docs/club.md").read_text("utf-8")
    for kind in ("state", "event", "command"):
        assert f"bastide/club/{kind}-1.schema.json" in text
        jsonschema_rs.meta.validate(schema(kind))


