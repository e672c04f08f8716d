# shellcheck shell=bash
# Sourced: emulate aarch64 for as long as the script runs. Takes nothing away that was there before.
if [ "$(uname -m)" != aarch64 ]; then
  _binfmt=/proc/sys/fs/binfmt_misc
  _undo() {
    if [ -n "${_registered:-}" ]; then echo -1 >"$_binfmt/qemu-aarch64" || true; fi
    if [ -n "${_mounted:-}" ]; then umount "$_binfmt" || true; fi
  }
  trap _undo EXIT
  mountpoint -q "$_binfmt" || { mount -t binfmt_misc binfmt_misc "$_binfmt"; _mounted=1; }
  if [ ! -e "$_binfmt/qemu-aarch64" ]; then
    [ -e /usr/lib/binfmt.d/qemu-aarch64.conf ] ||
      { echo "aarch64 needs an emulator: apt-get install -y qemu-user-static" >&2; exit 1; }
    cat /usr/lib/binfmt.d/qemu-aarch64.conf >"$_binfmt/register"
    _registered=1
  fi
fi
