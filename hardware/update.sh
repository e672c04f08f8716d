#!/usr/bin/env bash
# Brings an installed bastide to another version: never in a game, and a version that fails leaves the old one running.
#   sudo /opt/bastide/hardware/update.sh bastide_0.2.0+deb13_arm64.deb   a release in one file; needs no internet
#   sudo /opt/bastide/hardware/update.sh bastide-0.2.0.tar.gz    its source, with .sig beside it; fetches its packages
#   sudo /opt/bastide/hardware/update.sh --back                  go back to the version before
#   sudo hardware/update.sh --unsigned CHECKOUT                  your own checkout: nobody vouches for it but you
# A release is verified against the release key in /etc/bastide/release.signers before anything of it is unpacked or run;
# then it is installed and tried by the service's user. Every version has a folder of its own; "current" is a link to the
# one that runs and changes in one step, after the new version has tested itself on a copy of the games. What apt or
# install.sh put into /opt/bastide is the version before the first update. docs/updates.md has the whole of it.
# --requested does what the page asked for, or watches a switch that a power cut interrupted; bastide-update.service says it.
# BASTIDE_ROOT, BASTIDE_DATA, BASTIDE_URL, BASTIDE_INSTALLED, BASTIDE_UNIT, BASTIDE_SETTINGS, BASTIDE_KEYS, BASTIDE_USER,
# BASTIDE_PACKAGED, BASTIDE_ACTIVE, BASTIDE_RESTART, BASTIDE_WITHIN, BASTIDE_STEADY and BASTIDE_PATIENCE are for tests.
set -euo pipefail

ROOT=${BASTIDE_ROOT:-/opt/bastide-versions} DATA=${BASTIDE_DATA:-/var/lib/bastide}
RESTART=${BASTIDE_RESTART:-systemctl restart bastide.service} ACTIVE=${BASTIDE_ACTIVE:-systemctl -q is-active bastide.service}
INSTALLED=${BASTIDE_INSTALLED:-/opt/bastide} UNIT=${BASTIDE_UNIT:-/etc/systemd/system/bastide.service}
COMMAND=${BASTIDE_COMMAND:-/usr/local/bin/bastide} SETTINGS=${BASTIDE_SETTINGS:-/etc/bastide/bastide.conf}
KEYS=${BASTIDE_KEYS:-/etc/bastide/release.signers} SERVICE=${BASTIDE_USER-bastide}
PACKAGED=${BASTIDE_PACKAGED:-/usr/lib/systemd/system/bastide.service} # where the Debian package puts the unit
PATIENCE=${BASTIDE_PATIENCE:-30}    # seconds that a busy table may take to answer
WITHIN=${BASTIDE_WITHIN:-60}        # seconds that a new version has to show its page
LOCKED=${BASTIDE_LOCKED:-15}        # seconds that another one may have the lock: after each update --requested does
STEADY=${BASTIDE_STEADY:-3}         # seconds between three looks that all must find it there
LARGEST=200000000                   # bytes; a release's source has a few million
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)

usage() { sed -n '3,6s/^# *//p' "$0" >&2; exit 2; }
case ${1:-} in
  --back | --requested) [ $# = 1 ] || usage ;;
  --unsigned) [ $# = 2 ] || usage ;;
  -* | '') usage ;;
  *) [ $# = 1 ] || usage ;;
esac
asked_for=$1 what=${2:-} id='' from='' to='' untouched=1

# -- what is said: to whoever called, and to the page ----------------------------------------------------------------
note() { # note STEP RESULT CODE TEXT: the state that the page shows, in one step
  [ -d "$ROOT" ] || return 0
  python3 -I - "$ROOT/state.json" "$id" "$from" "$to" "$@" <<'PY' || true
import json, os, sys, time
path, id_, old, new, step, result, code, text = sys.argv[1:]
told = {"format": "bastide-update/1", "id": id_ or None, "at_s": time.time(), "step": step, "result": result or None,
        "code": code or None, "text": text, "from": old or None, "to": new or None}
with open(path + ".part", "w", encoding="utf-8") as f:
    json.dump(told, f)
    f.flush()
    os.fsync(f.fileno())
os.chmod(path + ".part", 0o644)
os.replace(path + ".part", path)
PY
}
say() { echo "update: $*"; }
step() { note "$1" '' '' "$2"; }
fail() { # fail CODE TEXT: nothing was touched, or the old version never stopped
  echo "update: $2" >&2
  if [ -n "$untouched" ]; then note ended refused "$1" "$2"; else note ended failed "$1" "$2"; fi
  exit 1
}

mkdir -p "$ROOT"
exec 9>"$ROOT/.lock"
if [ "$asked_for" = --requested ]; then
  flock -w 900 9 || exit 1 # another update may be at work
  # Started for the `pending` of an update that has ended meanwhile (bastide-update.path).
  if [ ! -e "$ROOT/pending" ] && [ ! -e "$DATA/.update/request.json" ]; then exit 0; fi
else flock -w "$LOCKED" 9 || { echo "update: another update is running" >&2; exit 1; }; fi

# -- the table ----------------------------------------------------------------------------------------------------------
option() { # option NAME: what the service is told, the last time that it is
  sed -n "s/^BASTIDE_OPTIONS=.*--$1[ =]\([^ \"']*\).*/\1/p" "$SETTINGS" 2>/dev/null | tail -n 1 || true
}
port=$(option port) host=$(option host)
case $host in '' | 0.0.0.0 | ::) host=127.0.0.1 ;; *:*) host="[$host]" ;; esac
URL=${BASTIDE_URL:-http://$host:${port:-8000}}

asked() { python3 -I "$here/ask_table.py" "$URL" "$PATIENCE"; } # playing, idle, silent or nobody
free_to_update() { # a table that does not answer may be playing: only one that says it is idle, or is not there, is
  local answer
  answer=$(asked)
  if [ "$answer" = nobody ] && $ACTIVE; then answer=silent; fi # the service runs, and listens somewhere else
  case $answer in
    idle | nobody) return 0 ;;
    playing) code=game_runs why="a game is running: end it first, or update tomorrow" ;;
    *) code=no_answer
      why="the table at $URL does not say whether a game is played; try again, or stop it: sudo systemctl stop bastide" ;;
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
newer_or_same() { # whether $2 is not older than $1
  [ -z "$1" ] || [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | tail -n 1)" = "$2" ]
}

# -- what is taken ------------------------------------------------------------------------------------------------------
room_for() { # room_for KILOBYTES
  [ "$(df -Pk "$ROOT" | awk 'NR == 2 {print $4}')" -gt "$(($1 + 100000))" ] ||
    fail no_room "there is too little room on the disk: $((($1 + 100000) / 1000)) MB are needed in $ROOT"
}
refuse() { # refuse FILE FOLDER: what release_file.py has against it, a word and a sentence
  local wrong
  wrong=$(tail -n 1 "$2.release/wrong")
  rm -rf "$2.release"
  fail "${wrong%%$'\t'*}" "$1: ${wrong#*$'\t'}"
}
unpack_package() { # unpack_package FILE FOLDER: our own copy is verified, and then what it says of itself is believed
  local about python arch kilobytes
  [ -f "$1" ] || fail not_a_release "$1: there is no such release; your own checkout takes --unsigned"
  command -v ssh-keygen >/dev/null || fail failed "ssh-keygen is missing: sudo apt install -y openssh-client"
  mkdir -m 700 "$2.release"
  cp "$1" "$2.release/file.deb"
  about=$(python3 -I "$here/release_file.py" check "$2.release/file.deb" "$KEYS" 2>"$2.release/wrong") || refuse "$@"
  told() { python3 -I -c 'import json, sys; print(json.loads(sys.argv[1])[sys.argv[2]])' "$about" "$1"; }
  to=$(told version) python=$(told python) arch=$(told arch) kilobytes=$(told installed_kb)
  if [ "$arch" != "$(dpkg --print-architecture)" ] ||
     [ "$python" != "$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')" ]; then
    rm -rf "$2.release"
    fail other_system "$1 is for another system ($arch with Python $python); take the release's file for this one"
  fi
  newer_or_same "$from" "$to" ||
    { rm -rf "$2.release"; fail older "$1 is version $to, older than $from that runs; --back goes back"; }
  room_for "$kilobytes"
  step unpacking "unpacking $to"
  mkdir "$2"
  dpkg-deb --fsys-tarfile "$2.release/file.deb" | tar --extract --no-same-owner --no-same-permissions \
    --strip-components=3 -C "$2" ./opt/bastide || fail not_a_release "$1 cannot be unpacked"
  rm -rf "$2.release"
}
unpack_source() { # unpack_source ARCHIVE FOLDER: our own copy is verified and then unpacked
  [ -f "$1" ] || fail not_a_release "$1: there is no such release; your own checkout takes --unsigned"
  [ -f "$1.sig" ] || fail not_signed "$1.sig is missing: a release has its signature beside it"
  command -v ssh-keygen >/dev/null || fail failed "ssh-keygen is missing: sudo apt install -y openssh-client"
  [ "$(stat -c %s "$1")" -le "$LARGEST" ] || fail not_a_release "$1 is too large to be a release"
  mkdir -m 700 "$2.release"
  cp "$1" "$2.release/archive" && cp "$1.sig" "$2.release/archive.sig"
  python3 -I "$here/release_file.py" verify "$2.release/archive" "$2.release/archive.sig" "$KEYS" 2>"$2.release/wrong" ||
    refuse "$@"
  mkdir "$2"
  tar --extract --gzip --no-same-owner --no-same-permissions --strip-components=1 -C "$2" -f "$2.release/archive"
  rm -rf "$2.release"
  to=$(number_of "$2")
  newer_or_same "$from" "$to" || fail older "$1 is version $to, older than $from that runs; --back goes back"
}

# -- the switch ---------------------------------------------------------------------------------------------------------
switch_to() {
  ln -sfn "$1" "$ROOT/.next" && mv -T "$ROOT/.next" "$ROOT/current"
  # The unit is install.sh's or the package's; this makes it start what is current, as they made it start their own.
  local unit
  for unit in "$UNIT" "$PACKAGED" ''; do [ ! -e "$unit" ] || break; done
  [ -n "$unit" ] || return 0
  mkdir -p "$UNIT.d"
  { echo "[Service]"; echo "ExecStart="
    sed -n "s|^ExecStart=$INSTALLED/|ExecStart=$ROOT/current/|p" "$unit"; } >"$UNIT.d/version.conf"
  if [[ $(readlink "$COMMAND") == @("$INSTALLED"|"$ROOT")/* ]]; then ln -sfn "$ROOT/current/.venv/bin/bastide" "$COMMAND"; fi
  sync -f "$ROOT"
  if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
}
serves() { # serves COMMAND...: the new version shows its page within a minute of that, and keeps showing it
  local end=$((SECONDS + WITHIN)) seen=0
  timeout "$WITHIN" "$@" 9>&- || return 1
  while [ "$SECONDS" -le "$end" ] || [ "$seen" -gt 0 ]; do
    case $(PATIENCE=5 asked) in
      playing | idle) seen=$((seen + 1)); if [ "$seen" = 3 ]; then return 0; fi; sleep "$STEADY" ;;
      *) [ "$seen" = 0 ] || return 1; sleep 0.5 ;;
    esac
  done
  return 1
}
settle() { # settle OLD NEW COMMAND...: after the switch; what does not serve goes back
  local old=$1 new=$2
  shift 2
  step watching "waiting for the page of ${to:-the new version}"
  if serves "$@"; then
    echo "$old" >"$ROOT/before"
    [ -n "$old" ] || rm -f "$ROOT/before"
    rm -f "$ROOT/pending"
    prune
    return 0
  fi
  if [ -n "$old" ]; then
    switch_to "$old"
    $RESTART 9>&- || true
  fi
  rm -f "$ROOT/pending"
  case $new in "$ROOT"/[0-9]*) [ "$new" = "$(cat "$ROOT/before" 2>/dev/null)" ] || rm -rf "$new" ;; esac
  note ended returned did_not_serve "the new version did not show its page within a minute; the old one runs again"
  echo "update: the new version did not start; the old one runs again" >&2
  exit 1
}
prune() { # only what runs and the one before stay: each takes some 300 MB
  local folder
  for folder in "$ROOT"/[0-9]*; do
    [ -d "$folder" ] || continue
    case $folder in "$(readlink "$ROOT/current")" | "$(cat "$ROOT/before" 2>/dev/null)") ;; *) rm -rf "$folder" ;; esac
  done
}

# -- what was asked for on the page ------------------------------------------------------------------------------------
if [ "$asked_for" = --requested ]; then
  if [ -e "$ROOT/pending" ]; then # the power went in the minute after a switch
    mapfile -t switched <"$ROOT/pending"
    from=${switched[1]:-} to=${switched[2]:-} id=${switched[3]:-}
    settle "${switched[0]}" "$(readlink "$ROOT/current")" true
    note ended updated '' "$to runs now"
    exit 0
  fi
  rm -rf "$ROOT/.asked"
  mkdir -m 700 "$ROOT/.asked"
  # The service's user wrote both, and may write anything there: nothing is followed, nothing is believed.
  python3 -I - "$DATA/.update" "$ROOT/.asked" <<'PY' || exit 0
import json, os, re, shutil, stat, sys
source, target = sys.argv[1:]
folder = os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
def opened(name, most):
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    there = os.fstat(file)
    if not stat.S_ISREG(there.st_mode) or there.st_size > most:
        raise OSError(f"{name} is no file to take")
    return os.fdopen(file, "rb")
try:
    with opened("request.json", 10_000) as f:
        asked = json.loads(f.read(10_000))
    os.unlink("request.json", dir_fd=folder)
    if asked["do"] not in ("install", "back") or not re.fullmatch(r"[0-9a-f]{1,32}", asked["id"]):
        raise ValueError("no request")
    if asked["do"] == "install":
        with opened("upload.part", 500_000_000) as f, open(os.path.join(target, "update.deb"), "wb") as out:
            shutil.copyfileobj(f, out)
        os.unlink("upload.part", dir_fd=folder)
    with open(os.path.join(target, "do"), "w") as out:
        out.write(f"{asked['do']}\n{asked['id']}\n")
except (OSError, ValueError, KeyError, TypeError) as e:
    for name in ("request.json",):
        try:
            os.unlink(name, dir_fd=folder)
        except OSError:
            pass
    sys.exit(f"update: what was asked for cannot be read: {e}")
PY
  mapfile -t request <"$ROOT/.asked/do"
  id=${request[1]}
  case ${request[0]} in install) asked_for=$ROOT/.asked/update.deb ;; *) asked_for=--back ;; esac
fi

# -- the update --------------------------------------------------------------------------------------------------------
why='' code=
old=$(readlink "$ROOT/current" || true)
if [ -z "$old" ] && [ -x "$INSTALLED/run" ]; then old=$INSTALLED; fi
from=$(number_of "$old")
step checking "checking what was asked for"
trap 'rm -rf "$ROOT/.asked"' EXIT
free_to_update || fail "$code" "$why"
result=updated
if [ "$asked_for" = --back ]; then
  result=went_back
  new=$(cat "$ROOT/before" 2>/dev/null) || fail nothing_before "there is no version before this one"
  [ -d "$new" ] || fail nothing_before "the version before this one is gone"
  to=$(number_of "$new")
else
  new=$ROOT/$(date +%Y%m%d-%H%M%S)-$$
  trap 'rm -rf "$new.part" "$new.part.release" "$new.test" "$ROOT/.asked"' EXIT
  case $asked_for in
    --unsigned)
      [ -f "$what/pyproject.toml" ] && [ -x "$what/run" ] || fail not_a_release "$what is no whole checkout of bastide"
      say "nobody has signed $what: it runs because you say so"
      cp -R --no-preserve=ownership "$what" "$new.part"
      rm -rf "$new.part/.venv"
      to=$(number_of "$new.part") ;;
    *.deb) unpack_package "$asked_for" "$new.part" ;;
    *) unpack_source "$asked_for" "$new.part" ;;
  esac
  [ -f "$new.part/pyproject.toml" ] && [ -x "$new.part/run" ] || fail not_a_release "$asked_for is no whole release of bastide"
  pip_settings=() # this network's own mirror and certificates, where somebody has set them
  while IFS= read -r setting; do pip_settings+=("$setting"); done < <(env | grep -E '^(PIP_[A-Z_]+|https?_proxy|no_proxy)=' || true)
  mv "$new.part" "$new"
  untouched=
  drop() { rm -rf "$new"; fail "$1" "$2; the old one runs on"; }
  chmod -R u=rwX,go=rX "$new" # the service is another user
  step testing "trying ${to:-the new version}"
  mkdir -p "$new.test"
  give "$new.test"
  if [ ! -e "$new/.venv/.installed-program" ]; then mkdir -p "$new/.venv"; give "$new/.venv"; fi
  : >"$ROOT/last-test.txt"
  by_service "$new/run" bastide --version >>"$ROOT/last-test.txt" 2>&1 ||
    drop not_installed "the new version could not be installed ($ROOT/last-test.txt)"
  by_service "$new/run" bastide demo --once --turns 3 >>"$ROOT/last-test.txt" 2>&1 ||
    drop failed_test "the new version failed its own test ($ROOT/last-test.txt)"
  if [ -f "$DATA/log.sqlite" ] && [ -n "$old" ]; then # the games as they are, and whether the new version reads them
    if ! { by_service "$old/run" bastide backup --data "$DATA" --out "$new.test/backup.zip" &&
           by_service "$new/run" bastide restore "$new.test/backup.zip" --data "$new.test/data"; } >>"$ROOT/last-test.txt" 2>&1; then
      drop games_unread "the new version cannot read the games ($ROOT/last-test.txt)"
    fi
    cp "$new.test/backup.zip" "$ROOT/before-update.zip"
  fi
  if [ -n "$SERVICE" ] && [ "$(id -u)" = 0 ]; then chown -R root: "$new"; fi # the service cannot change what it runs
  chmod -R u=rwX,go=rX "$new"
  if [ -x "$new/.venv/bin/python" ]; then # the service may not write there, and would compile at every start
    "$new/.venv/bin/python" -m compileall -q -j 0 "$new" >/dev/null 2>&1 || true
  fi
fi
if ! free_to_update; then
  if [ "$asked_for" != --back ]; then rm -rf "$new"; fi
  fail "$code" "$why; a game may have begun meanwhile: the old version runs on"
fi
step switching "switching to ${to:-the new version}"
printf '%s\n' "$old" "$from" "$to" "$id" >"$ROOT/pending"
sync -f "$ROOT"
switch_to "$new"
# shellcheck disable=SC2086  # a command and its arguments
settle "$old" "$new" $RESTART
note ended "$result" '' "${to:-the new version} runs now"
say "$(basename "$new")${to:+ ($to)} runs now"
