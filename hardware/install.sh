#!/usr/bin/env bash
# Installs bastide as a service on Raspberry Pi OS (Bookworm, Trixie; 64 bit), Debian and Ubuntu, from this checkout.
#   sudo hardware/install.sh                     install, or bring up to date; run it as often as you like
#   sudo hardware/install.sh --source usb:0      which camera (default: the Pi's own where there is one, else none)
#   sudo hardware/install.sh --name table        reach the page at http://table.local:8000/
#   sudo hardware/install.sh --uninstall         take it away; games stay in /var/lib/bastide
#   sudo hardware/install.sh --uninstall --purge games and settings go too
set -euo pipefail

CODE=/opt/bastide DATA=/var/lib/bastide SETTINGS=/etc/bastide/bastide.conf
UNIT=/etc/systemd/system/bastide.service
MDNS=/etc/avahi/services/bastide.service AVAHI=/etc/avahi/avahi-daemon.conf
JOURNAL=/etc/systemd/journald@bastide.conf
COMMAND=/usr/local/bin/bastide            # so that "bastide calibrate ..." works in any folder
VERSIONS=/opt/bastide-versions            # hardware/update.sh's, and what makes the service run one of them
VERSION=$UNIT.d/version.conf
ROOMS=(bastide calibration hardware reading scoring vision web)
checkout=$(cd "$(dirname "$0")/.." && pwd)

say() { echo "install: $*"; }
fail() { echo "install: $*" >&2; exit 1; }
usage() { sed -n '2,7s/^# *//p' "$0"; }

source='' name='' uninstall='' purge=''
while [ $# -gt 0 ]; do
  case $1 in
    --source) source=${2:?"install: --source needs an address, like picamera:0"}; shift ;;
    --name) name=${2:?"install: --name needs a name, like table"}; shift ;;
    --uninstall) uninstall=1 ;;
    --purge) purge=1 ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
[ -z "$name" ] || [[ $name =~ ^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$ ]] ||
  fail "--name $name: a name has small letters, digits and hyphens only"
odd=$'[[:space:]"\'\\\\$]'
[[ ! $source =~ $odd ]] || fail "--source $source: an address has no spaces, quotes, backslashes or \$"
[ "$(id -u)" = 0 ] || fail "must be root: sudo hardware/install.sh"

running() { [ -d /run/systemd/system ]; } # systemd is here, not only its files
quietly() { # a command whose output matters only when it fails
  local log
  log=$(mktemp)
  if "$@" >"$log" 2>&1; then rm -f "$log"; else tail -n 15 "$log" >&2; rm -f "$log"; return 1; fi
}

ours() { [ -L "$COMMAND" ] && [[ $(readlink "$COMMAND") == "$CODE"/* || $(readlink "$COMMAND") == "$VERSIONS"/* ]]; }

remove() {
  if running; then systemctl disable --now bastide-update.path bastide.service >/dev/null 2>&1 || true
  else systemctl disable bastide-update.path bastide.service >/dev/null 2>&1 || true; fi
  rmdir /var/lib/bastide-backup 2>/dev/null || true # what is in it stays
  rm -f "$UNIT" "${UNIT%.service}-update.service" "${UNIT%.service}-update.path" "$MDNS" "$JOURNAL" "$VERSION"
  rmdir "$UNIT.d" 2>/dev/null || true
  if ours; then rm -f "$COMMAND"; fi
  if [ -e "$AVAHI.before-bastide" ]; then mv "$AVAHI.before-bastide" "$AVAHI"; fi
  rm -rf "$CODE" "$VERSIONS"/[0-9]* "$VERSIONS"/current "$VERSIONS"/before "$VERSIONS"/pending
  if running; then
    systemctl daemon-reload
    systemctl stop systemd-journald@bastide.service 2>/dev/null || true
    systemctl try-reload-or-restart avahi-daemon.service 2>/dev/null || true
  fi
  if [ -n "$purge" ]; then
    rm -rf "$DATA" "$(dirname "$SETTINGS")" "$VERSIONS" /var/log/journal/*.bastide
    if id bastide >/dev/null 2>&1; then userdel bastide; fi
    say "bastide, its games and its settings are gone; apt packages stay"
  else
    rm -f "$VERSIONS"/.lock "$VERSIONS"/last-test.txt "$VERSIONS"/state.json
    rmdir "$VERSIONS" 2>/dev/null || true # it stays when the games of before an update are in it
    say "bastide is gone; its games are in $DATA, its settings in $SETTINGS (--purge takes them too)"
  fi
}

if [ "$(dpkg-query -W -f '${db:Status-Status}' bastide 2>/dev/null)" = installed ]; then
  fail "bastide is installed as a Debian package here: sudo apt install ./FILE.deb brings another version, sudo apt remove bastide takes it away"
fi
if [ -n "$uninstall" ]; then remove; exit 0; fi
[ -z "$purge" ] || fail "--purge goes with --uninstall"

# -- what this machine must be ----------------------------------------------------------------------------------------
command -v apt-get >/dev/null || fail "this needs Raspberry Pi OS, Debian or Ubuntu: there is no apt-get here"
arch=$(dpkg --print-architecture)
case $arch in
  amd64 | arm64) ;;
  armhf | armel | i386)
    fail "this is a 32 bit system ($arch), and bastide needs 64 bit: write Raspberry Pi OS (64-bit) to the card" ;;
  *) fail "bastide is not built for $arch; it needs amd64 or arm64" ;;
esac
[ "$(df -Pk /opt | awk 'NR == 2 {print $4}')" -gt 1000000 ] || fail "less than 1 GB is free for /opt; make some room first"

# -- packages ---------------------------------------------------------------------------------------------------------
export DEBIAN_FRONTEND=noninteractive
available() { apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [^(]'; }
installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q ' installed$'; }
missing=()
want() { installed "$1" || missing+=("$1"); }
want python3
want python3-venv
want avahi-daemon
want ca-certificates
for package in python3-picamera2 python3-gpiozero python3-lgpio; do installed "$package" || missing_pi=1; done
if [ ${#missing[@]} -gt 0 ] || [ -n "${missing_pi:-}" ]; then
  quietly apt-get update || fail "the list of packages could not be fetched; is there a network?"
fi
if available python3-picamera2; then # Raspberry Pi OS, or a Debian that has it by now
  for package in python3-picamera2 python3-gpiozero python3-lgpio; do if available "$package"; then want "$package"; fi; done
fi
if [ ${#missing[@]} -gt 0 ]; then
  say "installing ${missing[*]}"
  quietly apt-get install -y --no-install-recommends "${missing[@]}" || fail "apt could not install them; see above"
fi
/usr/bin/python3 -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' ||
  fail "bastide needs Python 3.11 to 3.13; this system has $(/usr/bin/python3 -V 2>&1). Raspberry Pi OS Bookworm or newer has it"

# -- the program --------------------------------------------------------------------------------------------------------
id bastide >/dev/null 2>&1 ||
  useradd --system --user-group --home-dir "$DATA" --no-create-home --shell /usr/sbin/nologin bastide
mkdir -p "$CODE"
install -d -m 750 -o bastide -g bastide /var/lib/bastide-backup # where a stick or a share may be mounted
changed=
for part in "${ROOMS[@]}" docs run pyproject.toml constraints.txt requirements.lock requirements-pi.lock README.md CHANGELOG.md; do
  [ -e "$checkout/$part" ] || fail "$checkout is no whole checkout: $part is missing"
  [ "$checkout" = "$CODE" ] && continue
  if diff -rq --exclude=__pycache__ "$checkout/$part" "$CODE/$part" >/dev/null 2>&1; then continue; fi
  changed=1
  rm -rf "$CODE/$part.new"
  cp -R --no-preserve=ownership "$checkout/$part" "$CODE/$part.new"
  rm -rf "${CODE:?}/$part"
  mv "$CODE/$part.new" "$CODE/$part"
done
find "$CODE" -name __pycache__ -path "$CODE/[!.]*" -prune -exec rm -rf {} +
chmod -R u=rwX,go=rX "$CODE"/[!.]*
# A virtual environment that was made before the camera's libraries came cannot see them.
if /usr/bin/python3 -c 'import libcamera, picamera2' 2>/dev/null &&
   grep -qs 'include-system-site-packages = false' "$CODE/.venv/pyvenv.cfg"; then
  say "the camera's libraries are new: the virtual environment is made again"
  rm -rf "$CODE/.venv"
fi
# Packages are fetched and unpacked by the service's user, who may write this one folder and nothing else here; then it is
# root's, so that the service cannot change what it runs.
mkdir -p "$CODE/.venv"
chown -R bastide: "$CODE/.venv"
pip_settings=() # this network's own mirror and certificates, where somebody has set them
while IFS= read -r setting; do pip_settings+=("$setting"); done < <(env | grep -E '^(PIP_[A-Z_]+|https?_proxy|no_proxy)=' || true)
made=0
quietly runuser -u bastide -- env -i PATH=/usr/bin:/bin HOME="$CODE/.venv" LC_ALL=C PIP_NO_CACHE_DIR=1 \
  PYTHONDONTWRITEBYTECODE=1 "${pip_settings[@]}" "$CODE/run" bastide --version || made=1
chown -R root: "$CODE/.venv"
chmod -R u=rwX,go=rX "$CODE/.venv"
[ "$made" = 0 ] || fail "the Python packages could not be installed; see above"
if [ -n "$changed" ] || [ ! -e "$CODE/.venv/.compiled" ]; then # the service may not write there
  "$CODE/.venv/bin/python" -m compileall -q "${ROOMS[@]/#/$CODE/}" "$CODE/.venv/lib" >/dev/null 2>&1 || true
  touch "$CODE/.venv/.compiled"
fi

if ours || [ ! -e "$COMMAND" ]; then ln -sfn "$CODE/.venv/bin/bastide" "$COMMAND"
else say "$COMMAND is something else and stays; this one is $CODE/.venv/bin/bastide"; fi
# What this checkout has is what runs, whatever update.sh chose before.
if [ -e "$VERSION" ]; then rm -f "$VERSION"; changed=1; fi
rmdir "$UNIT.d" 2>/dev/null || true

# What this checkout names as release keys is what updates are held against: whoever installs it trusts it already.
mkdir -p "$(dirname "$SETTINGS")"
install -m 644 "$checkout/hardware/release.signers" "$(dirname "$SETTINGS")/release.signers"

# -- settings -------------------------------------------------------------------------------------------------------------
mkdir -p "$(dirname "$SETTINGS")"
if [ -z "$source" ] && [ ! -e "$SETTINGS" ] && "$CODE/.venv/bin/python" -c 'import picamera2' 2>/dev/null; then source=picamera:0; fi
if [ ! -e "$SETTINGS" ]; then
  { echo "# Options of the service: bastide serve --help lists them. After a change: sudo systemctl restart bastide"
    echo "BASTIDE_OPTIONS=--port 8000${source:+ --source $source}"; } >"$SETTINGS"
elif [ -n "$source" ]; then # whatever else people have put there stays
  others=$(sed -n 's/^BASTIDE_OPTIONS=//p' "$SETTINGS" | tail -n 1 | sed -E 's/(^| )--source[ =][^ ]*//')
  { grep -v '^BASTIDE_OPTIONS=' "$SETTINGS" || true
    echo "BASTIDE_OPTIONS=${others:---port 8000} --source $source"; } >"$SETTINGS.new"
  mv "$SETTINGS.new" "$SETTINGS"
fi

# -- the service ------------------------------------------------------------------------------------------------------------
groups=
for group in video render gpio; do if getent group "$group" >/dev/null; then groups+="${groups:+ }$group"; fi; done
before=$(cat "$UNIT" 2>/dev/null || true)
sed "s/^SupplementaryGroups=.*/SupplementaryGroups=$groups/" "$CODE/hardware/bastide.service" >"$UNIT"
cp "$CODE/hardware/bastide-update.service" "$CODE/hardware/bastide-update.path" "$(dirname "$UNIT")"
cp "$CODE/hardware/journal.conf" "$JOURNAL"
port=$(sed -n 's/^BASTIDE_OPTIONS=.*--port[ =]\([0-9]*\).*/\1/p' "$SETTINGS")
mkdir -p "$(dirname "$MDNS")"
sed "s/@PORT@/${port:-8000}/" "$CODE/hardware/avahi.service" >"$MDNS"
if [ -n "$name" ] && [ -e "$AVAHI" ]; then # the name on the network only; the machine keeps its own
  [ -e "$AVAHI.before-bastide" ] || cp -p "$AVAHI" "$AVAHI.before-bastide"
  sed "s/^#\?host-name=.*/host-name=$name/" "$AVAHI.before-bastide" >"$AVAHI"
fi
if running; then
  systemctl daemon-reload
  systemctl enable bastide.service >/dev/null 2>&1
  systemctl enable --now bastide-update.path >/dev/null 2>&1
  if [ -n "$changed$source" ] || [ "$before" != "$(cat "$UNIT")" ] || ! systemctl -q is-active bastide.service; then
    systemctl restart bastide.service || fail "the service did not start: journalctl --namespace=bastide -n 20 says why"
  fi
  systemctl try-reload-or-restart avahi-daemon.service 2>/dev/null || true
else
  systemctl enable bastide.service bastide-update.path >/dev/null 2>&1
  say "systemd is not running here: the service starts with the system"
fi
[[ $checkout == "$VERSIONS"/* ]] || rm -rf "$VERSIONS"/[0-9]* "$VERSIONS"/current "$VERSIONS"/before "$VERSIONS"/pending # nothing runs there any more
where=${name:-$(sed -n 's/^host-name=//p' "$AVAHI" 2>/dev/null || true)}
say "done: the page is at http://${where:-$(hostname)}.local:${port:-8000}/, the camera is $(
  sed -n 's/^BASTIDE_OPTIONS=.*--source[ =]\([^ ]*\).*/\1/p' "$SETTINGS" | grep . || echo 'none yet (--source says which)')"
