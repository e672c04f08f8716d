#!/usr/bin/env bash
# make_root.sh amd64|arm64 DIR [bookworm|trixie]: a Debian root to run bastide in, made in under a minute and as root.
#
# Nothing inside is configured or run: .debs are only unpacked, wheels are put in /opt/site by this machine's pip with
# --platform and without a compiler. The trixie root holds libcamera with its virtual pipeline, and real picamera2.
# What must be fetched is tried twice; exit code 75 says that it could not be, 1 that something else is wrong.
set -euo pipefail

arch=${1:?"which architecture: amd64 or arm64?"} root=$(realpath -m "${2:?"where to?"}") suite=${3:-trixie}
checkout=$(realpath "$(dirname "$0")/../..")
PIP=${PIP:-"python3 -m pip"}
case $arch in amd64) machine=x86_64 ;; arm64) machine=aarch64 ;; *) echo "make_root.sh: amd64 or arm64" >&2; exit 2 ;; esac
case $suite in trixie) python=3.13 camera=,python3-libcamera,libcamera-ipa ;; bookworm) python=3.11 camera= ;;
  *) echo "make_root.sh: bookworm or trixie" >&2; exit 2 ;; esac
command -v mmdebstrap >/dev/null || { echo "make_root.sh: mmdebstrap is missing: apt-get install -y mmdebstrap" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "make_root.sh: must be root" >&2; exit 1; }

# Only what this script began is taken away before it begins again.
if [ -e "$root" ] && [ ! -e "$root.made-by-bastide" ] && [ -n "$(ls -A "$root")" ]; then
  echo "make_root.sh: $root is there already and is not a root that this script made" >&2; exit 2
fi
mkdir -p "$(dirname "$root")"
touch "$root.made-by-bastide"
fetch() { # fetch WHAT COMMAND...: a mirror that does not answer once may do so the second time; how long to wait for it is
  # apt's and pip's business, who know a slow network from a busy processor
  local what=$1 try
  shift
  for try in 1 2; do
    if "$@" >>"$root.log" 2>&1; then return; fi
    [ "$try" = 2 ] || echo "make_root.sh: $what could not be fetched; once more" >&2
  done
  tail -n 3 "$root.log" >&2
  echo "make_root.sh: $what could not be fetched; see $root.log" >&2
  exit 75
}
unpacked() { # by apt, which works out in two seconds what debootstrap needs a minute of a processor for
  rm -rf --one-file-system "$root" # a half fetched one is no base
  exec mmdebstrap --mode=root --variant=extract --architectures="$arch" --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
    --aptopt='Acquire::Retries "1"' --aptopt='Acquire::http::Timeout "60"' \
    --include='?essential' --include="python3,python3-prctl,libgomp1,ca-certificates$camera" \
    "$suite" "$root" "deb ${MIRROR:-http://deb.debian.org/debian} $suite main"
}
export root arch camera suite
export -f unpacked
: >"$root.log"
fetch "$suite" bash -c unpacked
cd "$root"
mkdir -p proc sys dev opt/site opt/pycache bastide

wheels=(--no-compile --python-version "$python" --implementation cp --only-binary=:all: --target "$root/opt/site" -q)
for glibc in 2_36 2_35 2_34 2_31 2_28 2_27 2_24 2_17; do wheels+=(--platform "manylinux_${glibc}_$machine"); done
wheels+=(--platform "manylinux2014_$machine")
mapfile -t needed < <(python3 - "$checkout/pyproject.toml" <<'PY'
import sys, tomllib
with open(sys.argv[1], "rb") as f:
    print(*tomllib.load(f)["project"]["dependencies"], sep="\n")
PY
)
mapfile -t held < <(sed 's/#.*//; /^\s*$/d' "$checkout/constraints.txt")
printf '%s\n' "${held[@]}" >"$root.constraints"
[ "$suite" = trixie ] && needed+=(simplejpeg pillow piexif videodev2 libarchive-c tqdm jsonschema av)
# shellcheck disable=SC2086  # PIP may be "python3 -m pip"
fetch "a wheel" $PIP install "${wheels[@]}" -c "$root.constraints" "${needed[@]}" pytest hypothesis
if [ "$suite" = trixie ]; then # its own dependencies would need a compiler; what they are for is not used
  # shellcheck disable=SC2086
  fetch picamera2 $PIP install "${wheels[@]}" --no-deps picamera2
fi
touch "$root.whole"
du -sh "$root" | cut -f1
