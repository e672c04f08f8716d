"""The check-up page shows its report, and changes nothing."""

from __future__ import annotations

from webtable import table

from bastide.log.store import Store
from web.app import create_app

REPORT = {"state": "fail", "at_s": 1795260000.0, "checks": [
    {"what": "disk", "state": "ok", "text": "12.0 GB free", "do": ""},
    {"what": "power", "state": "warn", "text": "the voltage has been too low", "do": "use another supply"},
    {"what": "camera", "state": "fail", "text": "<b>usb:0</b> is gone", "do": "check its cable"}]}


def asked(tmp_path, doctor, path):
    with Store(tmp_path / "t.sqlite") as store:
        client = create_app(table(store, 1), doctor=doctor).test_client()
        answer = client.get(path, environ_base={"REMOTE_ADDR": "192.168.1.20"})
        return answer.status_code, answer.get_data(as_text=True), answer


def test_every_line_is_on_the_page_the_worst_first(tmp_path):
    status, text, answer = asked(tmp_path, lambda: REPORT, "/doctor")
    assert status == 200 and answer.mimetype == "text/html" and "default-src 'none'" in answer.headers[
        "Content-Security-Policy"]
    places = [text.index(row["what"] + "</h2>") for row in REPORT["checks"]]
    assert places == sorted(places, reverse=True)
    for row in REPORT["checks"][:2]:
        assert row["text"] in text and row["do"] in text
    assert "&lt;b&gt;usb:0" in text and "<b>usb:0" not in text and "2 of 3 checks" in text
    assert text.count("<script") == text.count("<script type=\"module\" src=\"/static/") == 1 and "style=" not in text


def test_programs_get_the_report_as_it_is(tmp_path):
    status, _, answer = asked(tmp_path, lambda: REPORT, "/api/doctor")
    assert status == 200 and answer.get_json() == REPORT


def test_while_the_first_check_runs_the_page_says_so(tmp_path):
    status, text, _ = asked(tmp_path, lambda: {"state": "warn", "checks": [], "at_s": None}, "/doctor")
    assert status == 200 and "being checked" in text


def test_a_table_without_a_doctor_says_so(tmp_path):
    assert asked(tmp_path, None, "/api/doctor")[0] == 404
    status, text, _ = asked(tmp_path, None, "/doctor")
    assert status == 200 and "bastide doctor" in text
