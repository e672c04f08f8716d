#!/usr/bin/env bash
# Brings an installed bastide to another version: never in a game, and a version that fails leaves the old one running.
#   sudo hardware/update.sh CHECKOUT          make CHECKOUT the version that runs
#   sudo hardware/update.sh --back            go back to the version before
# Every version has a folder of its own; "current" is a link to the one that runs and changes in one step, after the new
# version has tested itself on a copy of the games. What install.sh put into /opt/bastide is the version before the first
# update. BASTIDE_ROOT, BASTIDE_DATA, BASTIDE_URL, BASTIDE_INSTALLED, BASTIDE_UNIT name other places (tests).
set -euo pipefail

ROOT=${BASTIDE_ROOT:-/opt/bastide-versions} DATA=${BASTIDE_DATA:-/var/lib/bastide}
URL=${BASTIDE_URL:-http://127.0.0.1:8000}
RESTART=${BASTIDE_RESTART:-systemctl restart bastide.service}
INSTALLED=${BASTIDE_INSTALLED:-/opt/bastide} UNIT=${BASTIDE_UNIT:-/etc/systemd/system/bastide.service}
COMMAND=${BASTIDE_COMMAND:-/usr/local/bin/bastide}

say() { echo "update: $*"; }
fail() { echo "update: $*" >&2; exit 1; }
[ $# -eq 1 ] || { sed -n '3,4s/^# *//p' "$0" >&2; exit 2; }

mkdir -p "$ROOT"
exec 9>"$ROOT/.lock"
flock -n 9 || fail "another update is running"

in_a_game() { # the table says so itself; a table that does not answer has no game that could be disturbed
  python3 - "$URL/api/state" <<'PY'
import json, sys, urllib.request
try:
    view = json.load(urllib.request.urlopen(sys.argv[1], timeout=5))
except (OSError, ValueError):
    sys.exit(1)
sys.exit(0 if view.get("phase") == "playing" and view.get("version", 0) > 0 else 1)
PY
}
switch_to() {
  ln -sfn "$1" "$ROOT/.next" && mv -T "$ROOT/.next" "$ROOT/current"
  [ -e "$UNIT" ] || return 0
  # The unit is install.sh's; this makes it start what is current, as install.sh made it start its own.
  mkdir -p "$UNIT.d"
  { echo "[Service]"; echo "ExecStart="
    sed -n "s|^ExecStart=$INSTALLED/|ExecStart=$ROOT/current/|p" "$UNIT"; } >"$UNIT.d/version.conf"
  if [[ $(readlink "$COMMAND") == @("$INSTALLED"|"$ROOT")/* ]]; then ln -sfn "$ROOT/current/.venv/bin/bastide" "$COMMAND"; fi
  if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
}
answers() { # the new version has half a minute to show its page
  for _ in $(seq 60); do
    python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2)' "$URL/api/state" 2>/dev/null && return 0
    sleep 0.5
  done
  return 1
}

if in_a_game; then fail "a game is running: end it first, or update tomorrow"; fi
old=$(readlink "$ROOT/current" || true)
if [ -z "$old" ] && [ -x "$INSTALLED/run" ]; then old=$INSTALLED; fi
if [ "$1" = --back ]; then
  new=$(cat "$ROOT/before" 2>/dev/null) || fail "there is no version before this one"
  [ -d "$new" ] || fail "the version before this one is gone"
else
  [ -f "$1/pyproject.toml" ] && [ -x "$1/run" ] || fail "$1 is no whole checkout of bastide"
  new=$ROOT/$(date +%Y%m%d-%H%M%S)-$$
  cp -R --no-preserve=ownership "$1" "$new.part"
  trap 'rm -rf "$new.part" "$new.test"' EXIT
  "$new.part/run" bastide --version >/dev/null || fail "the new version could not be installed; the old one runs on"
  mv "$new.part" "$new"
  # a virtual environment knows its own path: made again where it stays
  rm -rf "$new/.venv"
  mkdir "$new.test"
  if ! { "$new/run" bastide --version && "$new/run" bastide demo --once --turns 3; } >"$ROOT/last-test.txt" 2>&1; then
    rm -rf "$new"
    fail "the new version failed its own test ($ROOT/last-test.txt); the old one runs on"
  fi
  chmod -R u=rwX,go=rX "$new" # the service is another user
  if [ -f "$DATA/log.sqlite" ] && [ -n "$old" ]; then # the games as they are, and whether the new version reads them
    if ! { "$old/run" bastide backup --data "$DATA" --out "$new.test/backup.zip" &&
           "$new/run" bastide restore "$new.test/backup.zip" --data "$new.test/data"; } >>"$ROOT/last-test.txt" 2>&1; then
      rm -rf "$new"
      fail "the new version cannot read the games ($ROOT/last-test.txt); the old one runs on"
    fi
    cp "$new.test/backup.zip" "$ROOT/before-update.zip"
  fi
fi
if in_a_game; then
  if [ "$1" != --back ]; then rm -rf "$new"; fi
  fail "a game has begun meanwhile: the old version runs on"
fi
switch_to "$new"
if $RESTART && answers; then
  if [ -n "$old" ]; then echo "$old" >"$ROOT/before"; fi
  say "$(basename "$new") runs now"
  exit 0
fi
if [ -n "$old" ]; then switch_to "$old"; $RESTART || true; fi
fail "the new version did not start; the old one runs again"
