#!/usr/bin/env bash
# run_virtual.sh [amd64|arm64] [ROOT]: the Pi camera's driver on real picamera2 and real libcamera, without a camera.
# Makes the root if it is not there yet (under a minute), puts frames into it and runs the driver's tests inside.
set -euo pipefail
arch=${1:-amd64} here=$(realpath "$(dirname "$0")")
root=$(realpath -m "${2:-/var/tmp/bastide-trixie-$arch}")
# shellcheck disable=SC1091  # checked by itself
if [ "$arch" = arm64 ]; then source "$here/../../hardware/image/emulate.sh"; fi
[ -e "$root.whole" ] || "$here/make_root.sh" "$arch" "$root"

frames=/usr/share/bastide-frames
mkdir -p "$root$frames" "$root/usr/share/libcamera/pipeline/virtual"
# Sizes that are not listed exactly silently become the largest one; 640x480 is picamera2's first configuration.
cat >"$root/usr/share/libcamera/pipeline/virtual/virtual.yaml" <<YAML
%YAML 1.1
---
"Virtual0":
  supported_formats:
  - {width: 2304, height: 1296, frame_rates: [30, 30]}
  - {width: 1536, height: 864, frame_rates: [30, 30]}
  - {width: 768, height: 432, frame_rates: [30, 30]}
  - {width: 1280, height: 720, frame_rates: [30, 30]}
  - {width: 640, height: 480, frame_rates: [30, 30]}
  frames:
    path: "$frames"
  location: "CameraLocationExternal"
  model: "imx708"
YAML
"$here/in_root.sh" "$root" python3 tests/pi/draw_frames.py "$frames"
"$here/in_root.sh" "$root" python3 -m pytest -q -p no:cacheprovider \
  -o filterwarnings="ignore:setDaemon" tests/pi/test_pi_camera.py tests/hardware/test_contract.py -k picamera "${@:3}"
