#!/usr/bin/env bash
# run_package.sh FILE.deb [DIR]: a package of ./run deb in a fresh Debian of its suite and architecture (arm64 is emulated
# elsewhere), as root. Installed without a network, served from, upgraded but never in a game, updated from a signed file,
# removed with the games kept, purged; what it leaves is told file by file.
set -euo pipefail
file=$(realpath "${1:?"which package?"}") checkout=$(realpath "$(dirname "$0")/../..")
suite=$(dpkg-deb --field "$file" Bastide-Suite) arch=$(dpkg-deb --field "$file" Architecture)
root=$(realpath -m "${2:-/var/tmp/bastide-package-$suite-$arch}")
export LC_ALL=C
step() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
die() { echo "run_package.sh: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || die "must be root"
# shellcheck disable=SC1091
if [ "$arch" != "$(dpkg --print-architecture)" ]; then source "$checkout/hardware/image/emulate.sh"; fi
packages=$(dpkg-deb --field "$file" Depends | sed 's/([^)]*)//g; s/|[^,]*//g; s/ //g')
if [ "$(cat "$root.whole" 2>/dev/null)" != "$packages" ]; then # none yet, or made for a package that depended on other things
  command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: apt-get install -y mmdebstrap"
  rm -rf --one-file-system "$root" "$root.whole"
  mmdebstrap --mode=root --variant=minbase --architectures="$arch" --skip=check/qemu \
    --include="systemd,systemd-sysv,dbus,$packages" "$suite" "$root" "deb http://deb.debian.org/debian $suite main" \
    >"$root.log" 2>&1 || die "there is no $suite to install in; see $root.log"
  rm -f "$root"/var/cache/apt/archives/*.deb
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod +x "$root/usr/sbin/policy-rc.d"
  echo "$packages" >"$root.whole"
fi
step "a fresh $suite for $arch with what the package depends on ($(du -sh "$root" | cut -f1))"

inside() { # in namespaces of its own, the network's among them: there is none but a loopback
  # shellcheck disable=SC2016
  unshare --mount --pid --net --fork bash -c '
    set -e
    root=$1 folder=$2; shift 2
    ip link set lo up 2>/dev/null || true
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/tmp"
    mkdir "$root/tmp/in"
    mount --bind -o ro "$folder" "$root/tmp/in"
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"' \
    _ "$root" "$given" "$@"
}
listing() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./run -o -path ./var/log -o \
    -path ./var/cache -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./root -o -name __pycache__ \) -prune -o \
    \( -type f -o -type l \) -printf '%p\n' | grep -v -e '/etc/[a-z]*-$' -e 'ld.so.cache' -e '/var/lib/systemd/' | sort)
}
given=$(mktemp -d)
trap 'rm -rf "$given"; declare -F _undo >/dev/null && _undo || true' EXIT
cp "$file" "$given/bastide.deb"
before=$(listing)

# -- installed -------------------------------------------------------------------------------------------------------------
begun=$SECONDS
inside apt-get install -y --no-install-recommends /tmp/in/bastide.deb >"$root.apt.log" 2>&1 ||
  { tail -5 "$root.apt.log" >&2; die "it could not be installed"; }
step "installed without a network in $((SECONDS - begun)) s, $(du -sm "$root/opt/bastide" | cut -f1) MB"
[ -L "$root/etc/systemd/system/multi-user.target.wants/bastide.service" ] || die "the service is not enabled"
[ -L "$root/etc/systemd/system/paths.target.wants/bastide-update.path" ] || die "updates are not waited for"
inside systemd-analyze verify /usr/lib/systemd/system/bastide.service /usr/lib/systemd/system/bastide-update.service \
  /usr/lib/systemd/system/bastide-update.path /usr/lib/systemd/system/bastide-card.service \
  /usr/lib/systemd/system/bastide-screen.service || die "the units do not verify"
said=$(inside su -s /bin/sh nobody -c 'cd / && bastide --version') || die "there is no command bastide"
inside /opt/bastide/hardware/install.sh >/dev/null 2>"$given/said" && die "install.sh runs over a package"
grep -q 'Debian package' "$given/said" || die "install.sh said: $(cat "$given/said")"
step "$said; the units verify; install.sh keeps away"

# -- used, as the service's user and with the unit's own command -----------------------------------------------------------
cat >"$given/serve.py" <<'PY'
import os, re, socket, subprocess, sys, urllib.request
place = "/var/lib/bastide/notify"
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(place); os.chmod(place, 0o777); s.settimeout(600)
unit = open("/usr/lib/systemd/system/bastide.service").read()
options = re.search("^BASTIDE_OPTIONS=(.*)", open("/etc/bastide/bastide.conf").read(), re.M)[1]
command = re.search("^ExecStart=(.*)", unit, re.M)[1].replace("$BASTIDE_OPTIONS", options).split()
served = subprocess.Popen(["setpriv", "--reuid=bastide", "--regid=bastide", "--init-groups", "--no-new-privs", *command],
    env={"PATH": "/usr/bin:/bin", "HOME": "/var/lib/bastide", "NOTIFY_SOCKET": place}, cwd="/var/lib/bastide")
print(s.recv(1000).decode().splitlines())
assert b"<html" in urllib.request.urlopen("http://127.0.0.1:8000/").read()
code = subprocess.call(sys.argv[1:]) if sys.argv[1:] else 0
served.terminate(); assert served.wait(60) == 0
os.unlink(place)
sys.exit(code)
PY
inside python3 /tmp/in/serve.py || die "it does not serve"
begun=$SECONDS
inside su -s /bin/sh bastide -c 'set -e; cd /var/lib/bastide; bastide print mat --out mat.pdf; bastide demo --once --turns 3
  ! touch /opt/bastide/x 2>/dev/null' >"$root.demo.log" 2>&1 || { tail -5 "$root.demo.log" >&2; die "it cannot be used"; }
step "served, printed a mat and played three turns as its own user in $((SECONDS - begun)) s"
inside /opt/bastide/.venv/bin/python - <<'PY' || die "a module cannot be imported"
import importlib, pathlib
rooms = ("bastide", "calibration", "hardware", "reading", "scoring", "vision", "web")
skip = {"hardware.pi", "hardware.panel"}  # the Pi's own libraries
names = [".".join(p.relative_to("/opt/bastide").with_suffix("").parts).removesuffix(".__init__") for room in rooms
         for p in sorted(pathlib.Path("/opt/bastide", room).rglob("*.py")) if p.name != "__main__.py"]
for name in names:
    if name not in skip:
        importlib.import_module(name)
import skimage.color, scipy.optimize, simplejpeg
print(f"        {len(names)} modules")
PY

# -- another version: never in a game, games kept ------------------------------------------------------------------------
rm -rf "$given/next" && dpkg-deb -R "$file" "$given/next"
sed -i 's/^Version: .*/Version: 99.0.0+test/' "$given/next/DEBIAN/control"
sed -i 's/^__version__ = .*/__version__ = "99.0.0"/' "$given/next/opt/bastide/bastide/__init__.py"
dpkg-deb -Zgzip -z1 --root-owner-group -b "$given/next" "$given/next.deb" >/dev/null
cat >"$given/game.sh" <<'SH'
python3 - <<'PY'
import http.server, json, threading, subprocess
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(json.dumps({"phase": "playing", "version": 7}).encode())
    def log_message(self, *a): ...
server = http.server.HTTPServer(("127.0.0.1", 8000), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()
done = subprocess.run(["apt-get", "install", "-y", "/tmp/in/next.deb"], capture_output=True, text=True)
assert done.returncode != 0 and "a game is running" in done.stdout + done.stderr, done.stdout + done.stderr
PY
SH
inside sh /tmp/in/game.sh || die "it was upgraded in the middle of a game"
[ "$(inside bastide --version)" = "$said" ] || die "the refused upgrade changed the version"
inside apt-get install -y /tmp/in/next.deb >"$root.apt.log" 2>&1 || { tail -5 "$root.apt.log" >&2; die "the upgrade failed"; }
[ "$(inside bastide --version)" = "bastide 99.0.0" ] || die "the upgrade did not take"
[ -e "$root/var/lib/bastide/log.sqlite" ] || die "the upgrade took the games"
inside python3 /tmp/in/serve.py >/dev/null || die "the upgraded one does not serve"
step "not upgraded in a game; upgraded after it, games kept"

# -- an update from a signed file ------------------------------------------------------------------------------------------
ssh-keygen -q -t ed25519 -N '' -f "$given/key"
echo "bastide namespaces=\"bastide-release\" $(cut -d ' ' -f 1,2 "$given/key.pub")" >"$root/etc/bastide/release.signers"
sed -i 's/"99.0.0"/"99.0.1"/' "$given/next/opt/bastide/bastide/__init__.py"
sed -i 's/^Version: .*/Version: 99.0.1+test/' "$given/next/DEBIAN/control"
dpkg-deb -Zgzip -z1 --root-owner-group -b "$given/next" "$given/update.deb" >/dev/null
"$checkout/hardware/about.py" "$given/update.deb" "$checkout/CHANGELOG.md" >"$given/about.json"
python3 -I "$checkout/hardware/release_file.py" seal "$given/update.deb" "$given/about.json" "$given/key" || die "not sealed"
# Not a service's restart, which needs a system that was booted: a page that says which version its program is.
cat >"$given/restart" <<'SH'
#!/bin/sh
setpriv --reuid=bastide --regid=bastide --init-groups /opt/bastide-versions/current/.venv/bin/bastide serve --port 8000 \
  --data /var/lib/bastide >/var/lib/bastide/serve.out 2>&1 &
SH
chmod +x "$given/restart"
begun=$SECONDS
inside env BASTIDE_RESTART=/tmp/in/restart BASTIDE_ACTIVE=false BASTIDE_WITHIN=300 BASTIDE_PATIENCE=60 \
  /opt/bastide/hardware/update.sh /tmp/in/update.deb || die "the update failed"
[ "$(inside bastide --version)" = "bastide 99.0.1" ] || die "the update did not take: $(inside bastide --version)"
step "updated from a signed file in $((SECONDS - begun)) s"

# -- gone ------------------------------------------------------------------------------------------------------------------
inside apt-get remove -y bastide >"$root.apt.log" 2>&1 || die "it could not be removed"
grep -q 'its games are in /var/lib/bastide' "$root.apt.log" || die "removing did not say what is kept"
[ -e "$root/var/lib/bastide/log.sqlite" ] && [ -e "$root/etc/bastide/bastide.conf" ] || die "removing took games or settings"
[ ! -e "$root/opt/bastide" ] || { find "$root/opt/bastide" | head -5 >&2; die "removing left the program"; }
inside apt-get purge -y bastide >"$root.apt.log" 2>&1 || die "it could not be purged"
[ -e "$root/var/lib/bastide/log.sqlite" ] && [ ! -e "$root/etc/bastide" ] || die "purging took the games, or left settings"
grep -q 'the games stay in /var/lib/bastide' "$root.apt.log" || die "purging did not say what is kept"
inside apt-get install -y --no-install-recommends /tmp/in/bastide.deb >"$root.apt.log" 2>&1 || die "again: not installed"
echo "bastide bastide/remove-games boolean true" | inside debconf-set-selections
inside apt-get purge -y bastide >"$root.apt.log" 2>&1 || die "it could not be purged"
[ ! -e "$root/var/lib/bastide" ] || die "purging left the games though it was asked to take them"
grep -q '^bastide:' "$root/etc/passwd" && die "the user is still there"
[ "$before" = "$(listing)" ] || { diff <(echo "$before") <(listing) | head -20 >&2; die "purging left something behind"; }
step "removed: games and settings stay; purged: games stay unless asked; then nothing is left. All is well on $suite, $arch"
