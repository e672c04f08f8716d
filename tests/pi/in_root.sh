#!/usr/bin/env bash
# in_root.sh DIR COMMAND...: run a command in a root that make_root.sh made, in the checkout at /bastide (read-only).
# Mounts and processes live in namespaces of their own and end with the command.
set -euo pipefail
root=$(realpath "${1:?"which root?"}") checkout=$(realpath "$(dirname "$0")/../..")
shift
# shellcheck disable=SC2016  # expanded by the inner shell
exec unshare --mount --pid --fork --kill-child bash -c '
  set -e
  root=$1 checkout=$2; shift 2
  mount -t proc proc "$root/proc"
  for m in dev sys; do mount --rbind "/$m" "$root/$m"; done
  mount --bind -o ro "$checkout" "$root/bastide"
  mount -t tmpfs tmpfs "$root/tmp"
  exec chroot "$root" env -i PATH=/usr/bin:/bin HOME=/tmp PYTHONPATH=/opt/site:/bastide PYTHONDONTWRITEBYTECODE=1 \
    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 LIBCAMERA_LOG_LEVELS="*:ERROR" sh -c "cd /bastide && exec \"\$@\"" sh "$@"
' _ "$root" "$checkout" "$@"
