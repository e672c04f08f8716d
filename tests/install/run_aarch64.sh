#!/usr/bin/env bash
# run_aarch64.sh [bookworm|trixie] [DIR]: what a Pi installs, emulated on another machine. The wheels are chosen by pip for
# aarch64 and never built, so this also shows that nobody needs a compiler. Imports everything and runs a smoke suite.
set -euo pipefail
suite=${1:-bookworm} pi=$(realpath "$(dirname "$0")/../pi")
root=$(realpath -m "${2:-/var/tmp/bastide-aarch64-$suite}")
step() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
# shellcheck disable=SC1091  # checked by itself
source "$pi/../../hardware/image/emulate.sh"
[ -e "$root.whole" ] || "$pi/make_root.sh" arm64 "$root" "$suite" >/dev/null
step "aarch64 $suite, $(du -sh "$root" | cut -f1), every package from a wheel"
"$pi/in_root.sh" "$root" python3 - <<'PY'
import importlib, pathlib, platform, subprocess, sys
assert platform.machine() == "aarch64" and not pathlib.Path("/usr/bin/gcc").exists()
rooms = ("bastide", "calibration", "hardware", "reading", "scoring", "vision", "web")
names = [".".join(p.with_suffix("").parts).removesuffix(".__init__") for room in rooms
         for p in sorted(pathlib.Path(room).rglob("*.py")) if p.name != "__main__.py"]
for name in names:
    importlib.import_module(name)
import cv2, numpy
print(f"      {len(names)} modules imported: Python {platform.python_version()}, NumPy {numpy.__version__}, OpenCV {cv2.__version__}")
PY
step "imported"
"$pi/in_root.sh" "$root" python3 -m bastide print charuco --out /tmp/c.pdf
"$pi/in_root.sh" "$root" python3 -m bastide demo --once --turns 1 --seed 3
"$pi/in_root.sh" "$root" python3 -m pytest -q -p no:cacheprovider tests/hardware/test_contract.py -k "not rtsp and not sim"
"$pi/in_root.sh" "$root" python3 -m pytest -q -p no:cacheprovider tests/calibration/test_targets.py tests/scoring/test_geometry.py
step "all is well on aarch64 $suite"
