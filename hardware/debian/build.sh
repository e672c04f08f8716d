#!/usr/bin/env bash
# Builds bastide's Debian packages from what is committed. Nothing of a package's architecture is run, so any Debian or
# Ubuntu builds all of them; the Python packages are those of requirements.lock, by version and hash, as wheels.
#   hardware/debian/build.sh FOLDER [SUITE/ARCH ...]   default: bookworm and trixie, each for arm64 and amd64
# A package is for one Python (a suite's) and one processor. It holds the program with its own virtual environment in
# /opt/bastide, so that it is installed without a network and whatever version of NumPy or OpenCV the system has stays out
# of its way; the camera's libraries it sees are the system's. The same commit gives the same package.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) checkout=$(cd "$(dirname "$0")/../.." && pwd)
fail() { echo "build: $*" >&2; exit 1; }
[ $# -ge 1 ] || { sed -n '4s/^# *//p' "$0" >&2; exit 2; }
out=$1
shift
[ $# -gt 0 ] || set -- bookworm/arm64 bookworm/amd64 trixie/arm64 trixie/amd64
[ -d "$out" ] || fail "$out: there is no such folder"
out=$(cd "$out" && pwd)
for tool in dpkg-deb git; do command -v $tool >/dev/null || fail "$tool is missing: sudo apt install -y dpkg git"; done
cd "$checkout"
uv=${UV:-$checkout/.venv/bin/uv}
[ -x "$uv" ] || fail "$uv is missing: ./run lint once makes the environment that it is in"
version=$(git show HEAD:bastide/__init__.py | sed -n 's/^__version__ = "\(.*\)"$/\1/p')
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
umask 022
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for what in "$@"; do
  suite=${what%/*} arch=${what#*/}
  case $suite in bookworm) debian=12 python=3.11 next=3.12 glibc=2_36 ;; trixie) debian=13 python=3.13 next=3.14 glibc=2_40 ;;
    *) fail "$suite: bookworm or trixie" ;; esac
  case $arch in amd64) machine=x86_64 ;; arm64) machine=aarch64 ;; *) fail "$arch: amd64 or arm64" ;; esac
  root=$scratch/tree
  code=$root/opt/bastide
  rm -rf "$root"
  mkdir -p "$code" "$root/DEBIAN"

  # -- the program and its environment -----------------------------------------------------------------------------------
  git archive --format=tar HEAD bastide calibration hardware reading scoring vision web docs run pyproject.toml \
    constraints.txt requirements.lock requirements-pi.lock README.md CHANGELOG.md LICENSE | tar -x -C "$code"
  rm -rf "$code/hardware/debian" "$code/hardware/image" "$code/docs/pictures"
  site=$code/.venv/lib/python$python/site-packages
  mkdir -p "$site" "$code/.venv/bin"
  "$uv" pip install -q --target "$site" --python-version "$python" --python-platform "$machine-manylinux_$glibc" \
    --require-hashes --no-deps --only-binary :all: --link-mode copy -r requirements.lock -r requirements-pi.lock
  rm -rf "${site:?}/bin" "$site/.lock"
  for package in numpy scipy skimage networkx; do # their own tests, a tenth of it all
    find "$site/$package" -type d -name tests -prune -exec rm -rf {} +
  done
  find "$site" -name __pycache__ -prune -exec rm -rf {} +
  printf '%s\n' "home = /usr/bin" "include-system-site-packages = true" "version = $python" >"$code/.venv/pyvenv.cfg"
  ln -s /usr/bin/python3 "$code/.venv/bin/python"
  echo ../../../.. >"$site/bastide.pth" # this program, wherever the folder lies
  cat >"$code/.venv/bin/bastide" <<'SH'
#!/bin/sh
'''exec' "$(dirname "$(readlink -f "$0")")/python" "$(readlink -f "$0")" "$@" # the environment's Python, wherever it lies
'''
import sys

from bastide.cli import main

sys.exit(main())
SH
  chmod 755 "$code/.venv/bin/bastide"
  touch "$code/.venv/.installed-program"

  # -- the system's side ------------------------------------------------------------------------------------------------------
  units=$root/usr/lib/systemd
  mkdir -p "$units/system" "$units/journald@bastide.conf.d" "$root/usr/bin" "$root/usr/share/doc/bastide"
  cp hardware/bastide.service hardware/bastide-{update,card,screen}.service hardware/bastide-update.path "$units/system"
  cp hardware/journal.conf "$units/journald@bastide.conf.d/bastide.conf"
  cat >"$root/usr/bin/bastide" <<'SH'
#!/bin/sh
# The version that the service runs: an update's, or the package's.
for at in /opt/bastide-versions/current /opt/bastide; do
  if [ -x "$at/.venv/bin/bastide" ]; then exec "$at/.venv/bin/bastide" "$@"; fi
done
echo "bastide: the program is not in /opt/bastide; install the package again" >&2
exit 1
SH
  chmod 755 "$root/usr/bin/bastide"
  sed -n '/^Permission/,$ {s/^$/./; s/^/ /; p}' LICENSE >"$scratch/license"
  sed -e "/^@LICENSE@\$/{r $scratch/license" -e 'd}' "$here/copyright" >"$root/usr/share/doc/bastide/copyright"
  gzip -9nc CHANGELOG.md >"$root/usr/share/doc/bastide/changelog.gz"
  find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

  # -- the package -------------------------------------------------------------------------------------------------------------
  kilobytes=$(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f1)
  full=$version+deb$debian
  sed -e "s/@VERSION@/$full/; s/@ARCH@/$arch/; s/@KILOBYTES@/$kilobytes/; s/@PYTHON@/$python/g; s/@NEXT@/$next/; s/@SUITE@/$suite/" \
    "$here/control" >"$root/DEBIAN/control"
  cp "$here/templates" "$root/DEBIAN/templates"
  for script in preinst postinst prerm postrm; do
    sed -e "/^@IDLE@\$/{r $here/idle.sh" -e 'd}' "$here/$script" | sed -e "/^@ASK@\$/{r hardware/ask_table.py" -e 'd}' \
      >"$root/DEBIAN/$script"
    chmod 755 "$root/DEBIAN/$script"
  done
  (cd "$root" && find . -path ./DEBIAN -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum | sed 's| \./| |') \
    >"$root/DEBIAN/md5sums"
  file=$out/bastide_${full}_$arch.deb
  dpkg-deb --root-owner-group -Zzstd -z"${BASTIDE_LEVEL:-19}" --build "$root" "$file.part" >/dev/null
  mv "$file.part" "$file"
  echo "build: $file ($(du -m "$file" | cut -f1) MB, $((kilobytes / 1024)) MB installed)"
done
