#!/usr/bin/env bash
# in_root.sh DIR COMMAND...: run a command in a root that make_root.sh made, in the checkout at /bastide (read-only).
# The mounts live in a mount namespace of their own and end with the command; the command is this very process, so whoever
# ends the one ends the other (in a process namespace it would be process 1, which no SIGTERM ends).
set -euo pipefail
root=$(realpath "${1:?"which root?"}") checkout=$(realpath "$(dirname "$0")/../..")
shift
# shellcheck disable=SC2016  # expanded by the inner shell
exec unshare --mount bash -c '
  set -e
  root=$1 checkout=$2; shift 2
  for m in proc dev sys; do mount --rbind "/$m" "$root/$m"; done
  mount --bind -o ro "$checkout" "$root/bastide"
  mount -t tmpfs tmpfs "$root/tmp"
  exec chroot "$root" env -i PATH=/usr/bin:/bin HOME=/tmp PYTHONPATH=/opt/site:/bastide PYTHONPYCACHEPREFIX=/opt/pycache \
    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 LIBCAMERA_LOG_LEVELS="*:ERROR" sh -c "cd /bastide && exec \"\$@\"" sh "$@"
' _ "$root" "$checkout" "$@"
