#!/usr/bin/env bash
# Brings an installed bastide to another version: never in a game, and a version that fails leaves the old one running.
#   sudo /opt/bastide/hardware/update.sh bastide-0.2.0.tar.gz    a release, with bastide-0.2.0.tar.gz.sig beside it
#   sudo /opt/bastide/hardware/update.sh --back                  go back to the version before
#   sudo hardware/update.sh --unsigned CHECKOUT                  your own checkout: nobody vouches for it but you
# A release is verified against the release key in /etc/bastide/release.signers before anything of it is unpacked or run;
# then it is installed and tried by the service's user. Every version has a folder of its own; "current" is a link to the
# one that runs and changes in one step, after the new version has tested itself on a copy of the games. What install.sh
# put into /opt/bastide is the version before the first update. BASTIDE_ROOT, BASTIDE_DATA, BASTIDE_URL, BASTIDE_INSTALLED,
# BASTIDE_UNIT, BASTIDE_SETTINGS, BASTIDE_KEYS, BASTIDE_USER, BASTIDE_ACTIVE and BASTIDE_PATIENCE are for tests.
set -euo pipefail

ROOT=${BASTIDE_ROOT:-/opt/bastide-versions} DATA=${BASTIDE_DATA:-/var/lib/bastide}
RESTART=${BASTIDE_RESTART:-systemctl restart bastide.service} ACTIVE=${BASTIDE_ACTIVE:-systemctl -q is-active bastide.service}
INSTALLED=${BASTIDE_INSTALLED:-/opt/bastide} UNIT=${BASTIDE_UNIT:-/etc/systemd/system/bastide.service}
COMMAND=${BASTIDE_COMMAND:-/usr/local/bin/bastide} SETTINGS=${BASTIDE_SETTINGS:-/etc/bastide/bastide.conf}
KEYS=${BASTIDE_KEYS:-/etc/bastide/release.signers} SERVICE=${BASTIDE_USER-bastide}
PATIENCE=${BASTIDE_PATIENCE:-30} # seconds that a busy table may take to answer
LARGEST=200000000                # bytes; a release has a few million

say() { echo "update: $*"; }
fail() { echo "update: $*" >&2; exit 1; }
usage() { sed -n '3,5s/^# *//p' "$0" >&2; exit 2; }
case ${1:-} in
  --back) [ $# = 1 ] || usage ;;
  --unsigned) [ $# = 2 ] || usage ;;
  -* | '') usage ;;
  *) [ $# = 1 ] || usage ;;
esac

mkdir -p "$ROOT"
exec 9>"$ROOT/.lock"
flock -n 9 || fail "another update is running"

option() { # option NAME: what the service is told, the last time that it is
  sed -n "s/^BASTIDE_OPTIONS=.*--$1[ =]\([^ \"']*\).*/\1/p" "$SETTINGS" 2>/dev/null | tail -n 1 || true
}
port=$(option port) host=$(option host)
case $host in '' | 0.0.0.0 | ::) host=127.0.0.1 ;; *:*) host="[$host]" ;; esac
URL=${BASTIDE_URL:-http://$host:${port:-8000}}

asked() { # asked: playing, idle, silent (there is one and it does not answer) or nobody
  python3 - "$URL/api/state" "$PATIENCE" <<'PY'
import json, sys, urllib.error, urllib.request
try:
    view = json.load(urllib.request.urlopen(sys.argv[1], timeout=float(sys.argv[2])))
    playing = view.get("phase") == "playing" and view.get("version", 0) > 0
    print("playing" if playing else "idle" if view.get("phase") else "silent")
except urllib.error.URLError as e:
    print("nobody" if isinstance(e.reason, ConnectionRefusedError) else "silent")
except (OSError, ValueError, AttributeError, TypeError):
    print("silent")
PY
}
free_to_update() { # a table that does not answer may be playing: only one that says it is idle, or is not there, is
  local state
  state=$(asked)
  if [ "$state" = nobody ] && $ACTIVE; then state=silent; fi
  case $state in
    idle | nobody) return 0 ;;
    playing) why="a game is running: end it first, or update tomorrow" ;;
    *) why="the table at $URL does not say whether a game is played; try again, or stop it: sudo systemctl stop bastide" ;;
  esac
  return 1
}
by_service() { # a command as the service's user, who may write nothing but what is given
  if [ -n "$SERVICE" ] && [ "$(id -u)" = 0 ]; then
    runuser -u "$SERVICE" -- env -i PATH=/usr/bin:/bin HOME="$new.test" TMPDIR="$new.test" LC_ALL=C PIP_NO_CACHE_DIR=1 \
      PYTHONDONTWRITEBYTECODE=1 "${pip_settings[@]}" "$@"
  else "$@"; fi
}
give() { if [ -n "$SERVICE" ] && [ "$(id -u)" = 0 ]; then chown -R "$SERVICE:" "$@"; fi; }
number_of() { sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$1/bastide/__init__.py" 2>/dev/null || true; }

unpack_release() { # unpack_release ARCHIVE FOLDER: our own copy is verified and then unpacked
  [ -f "$1" ] || fail "$1: there is no such release; your own checkout takes --unsigned"
  [ -f "$1.sig" ] || fail "$1.sig is missing: a release has its signature beside it"
  command -v ssh-keygen >/dev/null || fail "ssh-keygen is missing: sudo apt install -y openssh-client"
  grep -qsv -e '^ *#' -e '^ *$' "$KEYS" || fail "there is no release key in $KEYS; hardware/install.sh puts it there"
  [ "$(stat -c %s "$1")" -le "$LARGEST" ] || fail "$1 is too large to be a release"
  mkdir -m 700 "$2.release"
  cp "$1" "$2.release/archive" && cp "$1.sig" "$2.release/archive.sig"
  ssh-keygen -Y verify -f "$KEYS" -I bastide -n bastide-release -s "$2.release/archive.sig" <"$2.release/archive" \
    >/dev/null 2>&1 || fail "$1 is not signed with the release key; nothing of it was unpacked or run"
  mkdir "$2"
  tar --extract --gzip --no-same-owner --no-same-permissions --strip-components=1 -C "$2" -f "$2.release/archive"
  rm -rf "$2.release"
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
    case $(PATIENCE=2 asked) in playing | idle) return 0 ;; esac
    sleep 0.5
  done
  return 1
}

why=
free_to_update || fail "$why"
old=$(readlink "$ROOT/current" || true)
if [ -z "$old" ] && [ -x "$INSTALLED/run" ]; then old=$INSTALLED; fi
if [ "$1" = --back ]; then
  new=$(cat "$ROOT/before" 2>/dev/null) || fail "there is no version before this one"
  [ -d "$new" ] || fail "the version before this one is gone"
else
  new=$ROOT/$(date +%Y%m%d-%H%M%S)-$$
  trap 'rm -rf "$new.part" "$new.part.release" "$new.test"' EXIT
  if [ "$1" = --unsigned ]; then
    [ -f "$2/pyproject.toml" ] && [ -x "$2/run" ] || fail "$2 is no whole checkout of bastide"
    say "nobody has signed $2: it runs because you say so"
    cp -R --no-preserve=ownership "$2" "$new.part"
    rm -rf "$new.part/.venv"
  else
    unpack_release "$1" "$new.part"
    [ -f "$new.part/pyproject.toml" ] && [ -x "$new.part/run" ] || fail "$1 is no whole release of bastide"
    now=$(number_of "$old") then=$(number_of "$new.part")
    [ -z "$now" ] || [ "$(printf '%s\n%s\n' "$now" "$then" | sort -V | tail -n 1)" = "$then" ] ||
      fail "$1 is version $then, older than $now that runs; --back goes back"
  fi
  pip_settings=() # this network's own mirror and certificates, where somebody has set them
  while IFS= read -r setting; do pip_settings+=("$setting"); done < <(env | grep -E '^(PIP_[A-Z_]+|https?_proxy|no_proxy)=' || true)
  mv "$new.part" "$new"
  drop() { rm -rf "$new"; fail "$1; the old one runs on"; }
  chmod -R u=rwX,go=rX "$new" # the service is another user
  mkdir -p "$new/.venv" "$new.test"
  give "$new/.venv" "$new.test"
  : >"$ROOT/last-test.txt"
  by_service "$new/run" bastide --version >>"$ROOT/last-test.txt" 2>&1 ||
    drop "the new version could not be installed ($ROOT/last-test.txt)"
  by_service "$new/run" bastide demo --once --turns 3 >>"$ROOT/last-test.txt" 2>&1 ||
    drop "the new version failed its own test ($ROOT/last-test.txt)"
  if [ -f "$DATA/log.sqlite" ] && [ -n "$old" ]; then # the games as they are, and whether the new version reads them
    if ! { by_service "$old/run" bastide backup --data "$DATA" --out "$new.test/backup.zip" &&
           by_service "$new/run" bastide restore "$new.test/backup.zip" --data "$new.test/data"; } >>"$ROOT/last-test.txt" 2>&1; then
      drop "the new version cannot read the games ($ROOT/last-test.txt)"
    fi
    cp "$new.test/backup.zip" "$ROOT/before-update.zip"
  fi
  if [ -n "$SERVICE" ] && [ "$(id -u)" = 0 ]; then chown -R root: "$new"; fi # the service cannot change what it runs
  chmod -R u=rwX,go=rX "$new"
fi
if ! free_to_update; then
  if [ "$1" != --back ]; then rm -rf "$new"; fi
  fail "$why; a game may have begun meanwhile: the old version runs on"
fi
switch_to "$new"
if $RESTART && answers; then
  if [ -n "$old" ]; then echo "$old" >"$ROOT/before"; fi
  say "$(basename "$new") runs now"
  exit 0
fi
if [ -n "$old" ]; then switch_to "$old"; $RESTART || true; fi
fail "the new version did not start; the old one runs again"
