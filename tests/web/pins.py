"""Tables with PINs, for the tests of who may do what."""

from __future__ import annotations

from dataclasses import replace

from web.rights import Memory, hashed

PIN, ADMIN = "2580", "907143"


def with_pins(table_pin=PIN, admin=None):
    keys = Memory()
    keys.put(replace(keys.get(), table=hashed(table_pin), admin=hashed(admin) if admin else None))
    return keys
