#!/usr/bin/env bash
# run_booted.sh bookworm|trixie [DIR]: the service under a real systemd, booted in namespaces of this machine, as root.
# Shows that the hardened unit starts, is restarted when it is killed and when it hangs, reads a simulated table inside its
# sandbox, is updated but never in a game nor to a version that does not start, keeps its log apart, ends in order, and is
# gone after --uninstall. Which devices it may open needs a real Pi.
set -euo pipefail
suite=${1:-bookworm} checkout=$(realpath "$(dirname "$0")/../..")
root=$(realpath -m "${2:-/var/tmp/bastide-booted-$suite}")
export LC_ALL=C
step() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
die() { echo "run_booted.sh: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || die "must be root"
if [ ! -e "$root/etc/debian_version" ]; then
  command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: apt-get install -y mmdebstrap"
  mmdebstrap --mode=root --variant=minbase --include=ca-certificates,systemd,systemd-sysv,dbus "$suite" "$root" \
    "deb http://deb.debian.org/debian $suite main" >"$root.log" 2>&1 || die "there is no $suite to install in; see $root.log"
fi
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
step "a $suite to boot"

# shellcheck disable=SC1091 # checked by itself
source "$checkout/tests/install/boot.sh"
CHECKOUT=$checkout boot "$root" "bastide-booted-$suite" shared || die "systemd did not start; see $root.boot.log"
trap unboot EXIT
until_true() { for _ in $(seq 120); do if "$@" >/dev/null 2>&1; then return; fi; sleep 0.5; done; die "waited in vain for: $*"; }
booted() { [[ $(inside systemctl is-system-running) == @(running|degraded) ]]; } # what fails without hardware degrades it
until_true booted
step "booted: $(inside systemctl --version | head -1)"

pid() { inside systemctl show -p MainPID --value bastide; }
page() { inside /usr/bin/python3 -c 'import json, urllib.request
view = json.load(urllib.request.urlopen("http://127.0.0.1:8000/api/state"))
print(view["status"]["chip"], len(view["board"]["tiles"]))'; }
inside /tmp/checkout/hardware/install.sh
until_true page
step "installed and started: $(inside systemctl show -p StatusText --value bastide)"

another() { [ "$(pid)" != "$1" ] && [ "$(pid)" != 0 ]; }
first=$(pid)
inside bash -c "kill -9 $first"
until_true another "$first"
until_true page
step "killed, and there again"
inside mkdir -p /etc/systemd/system/bastide.service.d
printf '[Service]\nWatchdogSec=5\n' | inside tee /etc/systemd/system/bastide.service.d/short.conf >/dev/null
inside systemctl daemon-reload
inside systemctl restart bastide
hung=$(pid)
inside bash -c "kill -STOP $hung"
until_true another "$hung"
until_true page
step "hung, and there again: $(inside systemctl show -p NRestarts bastide)"

inside bash -c 'rm -r /etc/systemd/system/bastide.service.d; systemctl daemon-reload; cd /opt/bastide
  .venv/bin/python -c "import json
from bastide.table.demo_game import demo_game
from scoring.transcript import write
json.dump(write(demo_game(3, turns=4)), open(\"/var/lib/bastide/game.json\", \"w\"))"; chown bastide /var/lib/bastide/game.json
  echo "BASTIDE_OPTIONS=--port 8000 --new --source sim:transcript=/var/lib/bastide/game.json&seed=1&level=easy&size=1152x648" \
    >/etc/bastide/bastide.conf; systemctl restart bastide'
watched() { page | grep -qx 'manual 5'; } # the recording has ended, and four tiles lie beside the first
until_true watched
step "read a simulated table inside the sandbox"
# Updates: never in a game; the new version runs; one that starts badly leaves the version before it running.
said=$(inside /tmp/checkout/hardware/update.sh --unsigned /tmp/checkout 2>&1) && die "it was updated in the middle of a game"
[[ $said == *"a game is running"* ]] || die "an update in a game was refused with: $said"
inside bash -c 'echo "BASTIDE_OPTIONS=--port 8000 --new" >/etc/bastide/bastide.conf; systemctl restart bastide'
until_true page
command_of() { inside cat "/proc/$(pid)/cmdline" | tr '\0' ' '; }
inside /tmp/checkout/hardware/update.sh --unsigned /tmp/checkout || die "the update failed"
[[ $(command_of) == *"/opt/bastide-versions/current/"* ]] || die "the new version does not run: $(command_of)"
new=$(inside readlink /opt/bastide-versions/current)
step "not updated in a game; updated after it"
inside bash -c 'mkdir /tmp/broken; cd /tmp/checkout
  cp -R bastide calibration hardware reading scoring vision web docs run pyproject.toml constraints.txt requirements.lock requirements-pi.lock README.md /tmp/broken
  printf "\n\ndef run(args):\n    raise SystemExit(3)\n" >>/tmp/broken/bastide/commands/serve_command.py'
said=$(inside /tmp/checkout/hardware/update.sh --unsigned /tmp/broken 2>&1) && die "a version that cannot serve was taken"
[[ $said == *"did not start; the old one runs again"* ]] || die "a broken version was refused with: $said"
[ "$(inside readlink /opt/bastide-versions/current)" = "$new" ] || die "the broken version is still the current one"
until_true page
step "a version that does not start: ${said##*$'\n'}"
inside /tmp/checkout/hardware/update.sh --back || die "it could not go back"
[[ $(command_of) == *"/opt/bastide/"* || $(inside readlink /opt/bastide-versions/current) == /opt/bastide ]] ||
  die "it did not go back: $(command_of)"
step "back to the version that was installed"
inside journalctl --namespace=bastide --no-pager -n 1 -o cat | grep -q . || die "the log is not where it should be"
inside systemctl stop bastide
[ "$(inside systemctl show -p Result --value bastide)" = success ] || die "it did not end in order"
inside /tmp/checkout/hardware/install.sh --uninstall --purge
if inside systemctl cat bastide >/dev/null 2>&1; then die "the unit is still there"; fi
step "ended in order and gone; all is well under systemd on $suite"
