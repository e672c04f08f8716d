#!/usr/bin/env bash
# run_install.sh bookworm|trixie [DIR]: hardware/install.sh in a fresh Debian of this machine's architecture, as root.
# Installs, installs again (nothing may change), serves a page as the service's user, takes everything away again.
set -euo pipefail
suite=${1:-bookworm} checkout=$(realpath "$(dirname "$0")/../..")
root=$(realpath -m "${2:-/var/tmp/bastide-install-$suite}")
export LC_ALL=C
step() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
die() { echo "run_install.sh: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || die "must be root"
if [ ! -e "$root/etc/debian_version" ]; then
  command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: apt-get install -y mmdebstrap"
  rm -rf "$root"
  mmdebstrap --mode=root --variant=minbase --include=ca-certificates,systemd,systemd-sysv,dbus "$suite" "$root" \
    "deb http://deb.debian.org/debian $suite main" >"$root.log" 2>&1 || die "there is no $suite to install in; see $root.log"
  step "a fresh $suite ($(du -sh "$root" | cut -f1))"
fi

inside() { # in a mount and process namespace of its own: what the command leaves mounted or running ends with it
  # shellcheck disable=SC2016
  unshare --mount --pid --fork bash -c '
    set -e
    root=$1 checkout=$2; shift 2
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/tmp"
    mkdir -p "$root/tmp/checkout"
    mount --bind -o ro "$checkout" "$root/tmp/checkout"
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C PIP_NO_INPUT=1 \
      ${PIP_FIND_LINKS:+PIP_FIND_LINKS=$PIP_FIND_LINKS} "$@"' _ "$root" "$checkout" "$@"
}
listing() { # every file but what packages, caches and this script own
  (cd "$root" && find etc opt var/lib/bastide usr/local home root -xdev \( -name __pycache__ -prune \) -o \
    \( -type f -o -type l \) -printf '%p %s %l\n' 2>/dev/null |
    grep -v -e '^etc/resolv.conf' -e '^etc/ssl/' -e '^etc/[a-z]*- ' -e 'ld.so.cache' -e '^etc/alternatives/' -e '/\.cache/' | sort) || true
}
users() { grep -c '^bastide:' "$root/etc/passwd" || true; }

cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt" # this network's own, if it has one
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"

# What needs no network first: refusals.
mkdir -p "$root/opt/fake" && printf '#!/bin/sh\necho armhf\n' >"$root/opt/fake/dpkg" && chmod +x "$root/opt/fake/dpkg"
said=$(inside env PATH=/opt/fake:/usr/sbin:/usr/bin:/sbin:/bin /tmp/checkout/hardware/install.sh 2>&1) && die "32 bit was not refused"
[[ $said == *"32 bit system (armhf)"*"64-bit"* ]] || die "32 bit was refused with: $said"
rm -r "$root/opt/fake"
[ "$(users)" = 0 ] || die "a refused installation left a user"
step "32 bit is refused: $said"

inside apt-get update -qq
inside apt-get install -y -qq --no-install-recommends python3 python3-venv avahi-daemon >"$root.apt.log" 2>&1 ||
  { tail -5 "$root.apt.log" >&2; die "apt failed"; }
before=$(listing)
inside apt-get remove -y -qq --purge avahi-daemon python3-venv >>"$root.apt.log" 2>&1
step "packages fetched"
begun=$SECONDS
inside /tmp/checkout/hardware/install.sh --source usb:0 --name table || die "the installation failed"
step "installed in $((SECONDS - begun)) s"
first=$(listing)
begun=$SECONDS
inside /tmp/checkout/hardware/install.sh || die "the second installation failed"
step "again in $((SECONDS - begun)) s"
[ "$first" = "$(listing)" ] || { diff <(echo "$first") <(listing) | head >&2; die "the second run changed something"; }
[ -L "$root/etc/systemd/system/multi-user.target.wants/bastide.service" ] || die "the service is not enabled"
[ "$(inside su -s /bin/sh nobody -c 'cd / && /usr/local/bin/bastide --version')" != "" ] || die "there is no command bastide"
grep -q '^host-name=table$' "$root/etc/avahi/avahi-daemon.conf" || die "the name is not announced"
inside systemd-analyze verify /etc/systemd/system/bastide.service || die "the unit does not verify"
step "the unit verifies; $(inside systemd-analyze security --offline=true --no-pager bastide.service 2>/dev/null |
  grep 'Overall exposure' | sed 's/[^a-z0-9.: ]//gI')"

# shellcheck disable=SC2016
inside bash -c '
  set -e
  install -d -o bastide -g bastide -m 750 /var/lib/bastide
  python3 - <<PY
import socket, subprocess, urllib.request, os, re
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("/var/lib/bastide/notify"); os.chmod("/var/lib/bastide/notify", 0o777)
s.settimeout(600)
unit = open("/etc/systemd/system/bastide.service").read()
command = re.search("^ExecStart=(.*)", unit, re.M)[1].replace("\$BASTIDE_OPTIONS", "--port 8791").split()
served = subprocess.Popen(["setpriv", "--reuid=bastide", "--regid=bastide", "--init-groups", "--no-new-privs", *command],
    env={"PATH": "/usr/bin:/bin", "HOME": "/var/lib/bastide", "NOTIFY_SOCKET": "/var/lib/bastide/notify",
         "WATCHDOG_USEC": "3000000"}, cwd="/var/lib/bastide")
print(s.recv(1000).decode().splitlines())
page = urllib.request.urlopen("http://127.0.0.1:8791/").read()
assert b"<html" in page and s.recv(100) == b"WATCHDOG=1"
served.terminate(); assert served.wait(30) == 0
PY
  su -s /bin/sh bastide -c "/opt/bastide/.venv/bin/bastide print mat --out /var/lib/bastide/mat.pdf && \
    cd /var/lib/bastide && /opt/bastide/.venv/bin/bastide demo --once --turns 4"
  test -e /var/lib/bastide/log.sqlite && ! su -s /bin/sh bastide -c "touch /opt/bastide/x" 2>/dev/null
' || die "the installed program does not serve"
step "served a page, printed a mat and played four turns as its own user"

if [ "$suite" = bookworm ]; then # Raspberry Pi OS Bookworm: apt's simplejpeg was built for apt's NumPy 1.24, ours is 2
  inside apt-get install -y -qq --no-install-recommends python3-numpy python3-pip >>"$root.apt.log" 2>&1
  there=/usr/lib/python3/dist-packages
  inside /usr/bin/python3 -m pip install -q --no-deps --only-binary=:all: --target "$there" simplejpeg==1.6.6 2>/dev/null
  inside /usr/bin/python3 -c "open('$there/libcamera.py', 'w'); open('$there/picamera2.py', 'w').write('import simplejpeg')"
  inside /usr/bin/python3 -c 'import picamera2, numpy; assert numpy.__version__.startswith("1.24")'
  said=$(inside /tmp/checkout/hardware/install.sh) || die "the installation beside the Pi's libraries failed"
  [[ $said == *"made again"* ]] || die "the environment was not made again for the Pi's libraries"
  theirs=$(inside /opt/bastide/.venv/bin/python -c "import numpy, sys
sys.path.insert(0, '$there')
import picamera2" 2>&1) &&
    die "the clash that this is about is not here"
  inside /opt/bastide/.venv/bin/python -c 'import picamera2, simplejpeg, numpy, cv2
assert int(numpy.__version__[0]) >= 2 and "/opt/bastide" in simplejpeg.__file__' || die "picamera2 cannot be imported"
  inside rm -r "$there/libcamera.py" "$there/picamera2.py" "$there/simplejpeg"
  inside bash -c "rm -rf $there/simplejpeg*"
  step "with the Pi's libraries: theirs alone says ${theirs##*$'\n'}"
fi

# docs/rig.md, after calibrating: its own lines, and another camera afterwards takes none of it away.
# shellcheck disable=SC2016
inside bash -c 'set -e; cd /root; touch table.json colours.json
  sed -n "/^### After calibrating/,/^### A newer/s/^sudo \(cp\|sed\) /\1 /p" /tmp/checkout/docs/rig.md >lines.sh; [ "$(wc -l <lines.sh)" = 2 ]; sh -e lines.sh; rm lines.sh *.json
  test -e /var/lib/bastide/colours.json' || die "the documents could not be given to the service as the docs say"
inside /tmp/checkout/hardware/install.sh --source usb:1 >/dev/null
options='BASTIDE_OPTIONS=--port 8000 --calibration table.json --calibration colours.json --source usb:1'
[ "$(grep '^BASTIDE_OPTIONS' "$root/etc/bastide/bastide.conf")" = "$options" ] ||
  die "the options are $(cat "$root/etc/bastide/bastide.conf")"
step "documents given to the service, another camera chosen"

inside /tmp/checkout/hardware/install.sh --uninstall
[ -e "$root/var/lib/bastide/log.sqlite" ] || die "the games were taken away without --purge"
[ ! -e "$root/opt/bastide" ] && [ ! -e "$root/etc/systemd/system/bastide.service" ] || die "something was left"
inside /tmp/checkout/hardware/install.sh --uninstall --purge
[ "$(users)" = 0 ] || die "the user is still there"
[ "$before" = "$(listing)" ] || { diff <(echo "$before") <(listing) | head -20 >&2; die "uninstalling left something behind"; }
step "gone without a trace; all is well on $suite"
