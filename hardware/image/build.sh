#!/usr/bin/env bash
# Builds the image of a card: a small Debian with bastide in it, for a Raspberry Pi. As root.
#   hardware/image/build.sh PACKAGE.deb FOLDER [--pi-archive URL KEYRING] [--mirror URL]
# PACKAGE.deb (./run deb) says suite, processor and version. Debian's own packages boot a Pi 4. A Pi 5 and camera modules
# (picamera2) need Raspberry Pi's: --pi-archive gives its address and the keyring that signs it. An amd64 package makes a
# card without kernel and firmware, which nothing boots: it is for tests.
# Neither loop devices nor mounts are needed. The same tree gives the same image; which packages it holds is told beside it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) checkout=$(cd "$(dirname "$0")/../.." && pwd)
fail() { echo "image: $*" >&2; exit 1; }
usage() { sed -n '3s/^# *//p' "$0" >&2; exit 2; }
[ $# -ge 2 ] || usage
package=$1 out=$2 pi_archive='' pi_keys='' mirror=http://deb.debian.org
shift 2
while [ $# -gt 0 ]; do
  case $1 in
    --pi-archive) [ $# -ge 3 ] || usage; pi_archive=$2 pi_keys=$3; shift 3 ;;
    --mirror) [ $# -ge 2 ] || usage; mirror=$2; shift 2 ;;
    *) usage ;;
  esac
done
[ -f "$package" ] || fail "$package: there is no such package"
[ -d "$out" ] || fail "$out: there is no such folder"
[ -z "$pi_keys" ] || [ -f "$pi_keys" ] || fail "$pi_keys: there is no such keyring"
[ "$(id -u)" = 0 ] || fail "the files of a system belong to its users, which takes root: run it with sudo"
for tool in mmdebstrap mcopy mkfs.vfat mkfs.ext4 debugfs sfdisk xz; do
  PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null ||
    fail "$tool is missing: sudo apt install -y mmdebstrap mtools dosfstools e2fsprogs fdisk xz-utils qemu-user-static"
done
export PATH=$PATH:/usr/sbin:/sbin LC_ALL=C
package=$(realpath "$package") out=$(realpath "$out")
field() { dpkg-deb -f "$package" "$1"; }
[ "$(field Package)" = bastide ] || fail "$package is no package of bastide"
suite=$(field Bastide-Suite) arch=$(field Architecture) full=$(field Version)
version=${full%%+*} name=bastide-${full%%+*}-$(field Bastide-Suite)-$(field Architecture)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$checkout" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
umask 022
scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/bastide-image.XXXXXX")
if [ "$arch" = arm64 ]; then # shellcheck disable=SC1091 # checked by itself
  source "$here/emulate.sh"
fi
trap 'rm -rf --one-file-system "$scratch"; if declare -F _undo >/dev/null; then _undo; fi' EXIT

# What tells one card's partitions from another's, the same for the same version.
ident=$(printf '%s' "$name" | sha256sum)
disk=${ident:0:8} uuid=${ident:8:8}-${ident:16:4}-4${ident:20:3}-8${ident:23:3}-${ident:26:12}

# -- the system, by apt ------------------------------------------------------------------------------------------------------
packages=systemd,systemd-sysv,systemd-timesyncd,udev,dbus,kmod,libpam-systemd,network-manager,wpasupplicant,wireless-regdb
packages+=,iw,rfkill,avahi-daemon,libnss-mdns,openssh-server,sudo,fdisk,e2fsprogs,dosfstools,tzdata,iproute2,nano
sources=("deb $mirror/debian $suite main non-free-firmware" "deb $mirror/debian $suite-updates main non-free-firmware"
         "deb $mirror/debian-security $suite-security main non-free-firmware")
models=none
if [ "$arch" = arm64 ]; then
  if [ -n "$pi_archive" ]; then
    sources+=("deb [signed-by=$pi_keys] $pi_archive $suite main")
    packages+=,linux-image-rpi-v8,linux-image-rpi-2712,raspi-firmware,firmware-brcm80211,raspberrypi-archive-keyring
    packages+=,initramfs-tools,python3-picamera2
    models="pi4-64bit pi5-64bit"
  else
    packages+=,linux-image-arm64,raspi-firmware,firmware-brcm80211,initramfs-tools
    models=pi4-64bit
  fi
fi
# shellcheck disable=SC2016 # "$1" is mmdebstrap's: the root
mmdebstrap --mode=root --variant=minbase --architectures="$arch" --skip=check/qemu --format=tar --include="$packages" \
  --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' --aptopt='Acquire::Retries "3"' \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --dpkgopt='path-include=/usr/share/doc/bastide/*' \
  --customize-hook="upload '$package' /tmp/bastide.deb" \
  --customize-hook='BASTIDE_COMPILE=later chroot "$1" apt-get install -y --no-install-recommends /tmp/bastide.deb && rm "$1/tmp/bastide.deb"' \
  --customize-hook="tar -C '$here/overlay' --owner=0 --group=0 -c . | tar -C \"\$1\" -x --keep-directory-symlink --no-overwrite-dir" \
  --customize-hook="'$here/furnish.sh' \"\$1\" $disk '$mirror' '$suite'" \
  --customize-hook="chroot \"\$1\" dpkg-query -W -f '\${Package} \${Version} \${Architecture}\n' >'$scratch/packages'" \
  "$suite" "$scratch/system.tar" "${sources[@]}" >"$scratch/log" 2>&1 ||
  { tail -n 15 "$scratch/log" >&2; cp "$scratch/log" "$out/$name.log"; fail "the system could not be made; all of it is in $out/$name.log"; }
mkdir "$scratch/system"
tar -C "$scratch/system" --numeric-owner --xattrs --xattrs-include='*' -xf "$scratch/system.tar"
rm "$scratch/system.tar"
# Compiled Python is the same for every processor: by this machine's own build of the system's Python, not by an emulated one.
# Where the dynamic loader is looked for is a link that no package of theirs brings.
mmdebstrap --mode=root --variant=extract --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --include=python3 "$suite" "$scratch/native" "deb $mirror/debian $suite main" >"$scratch/log" 2>&1 ||
  { tail -n 5 "$scratch/log" >&2; fail "the Python that compiles could not be had"; }
mkdir -p "$scratch/native/opt"
mv "$scratch/system/opt/bastide" "$scratch/native/opt/bastide"
find "$scratch/native/opt/bastide" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
PYTHONHASHSEED=0 chroot "$scratch/native" /usr/bin/python3 -m compileall -q -f /opt/bastide >/dev/null || true # examples in packages
if [ -e "$scratch/native/opt/bastide/bastide/cli.py" ] && [ ! -d "$scratch/native/opt/bastide/bastide/__pycache__" ]; then
  fail "the program could not be compiled"
fi
mv "$scratch/native/opt/bastide" "$scratch/system/opt/bastide"
rm -rf --one-file-system "$scratch/native"
find "$scratch/system" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

# -- the partition that every computer shows ------------------------------------------------------------------------------
mib=$((1024 * 1024)) boot_mib=512 begin_mib=4
mkdir "$scratch/boot"
if [ -n "$(ls -A "$scratch/system/boot/firmware")" ]; then mv "$scratch/system/boot/firmware"/* "$scratch/boot"; fi
touch -d "@$SOURCE_DATE_EPOCH" "$scratch/system/boot/firmware"
truncate -s "${boot_mib}M" "$scratch/fat"
mkfs.vfat --invariant -F 32 -i "${ident:40:8}" -n BASTIDE "$scratch/fat" >/dev/null
for file in "$scratch/boot"/*; do TZ=UTC mcopy -s -m -i "$scratch/fat" "$file" ::/; done

# -- the system's partition ----------------------------------------------------------------------------------------------------
used=$(du -sm --apparent-size "$scratch/system" | cut -f1)
root_mib=$((used * 112 / 100 + 200)) # what the file system itself takes; the first start takes the whole card
truncate -s "${root_mib}M" "$scratch/ext4"
E2FSPROGS_FAKE_TIME=$SOURCE_DATE_EPOCH mkfs.ext4 -q -F -L bastide -U "$uuid" -E "hash_seed=$uuid,lazy_itable_init=0,lazy_journal_init=0" \
  -m 1 -d "$scratch/system" "$scratch/ext4"
# Of a file's four times mkfs takes two from this disk, where they are now.
(cd "$scratch/system" && find . -printf '%P\n') | awk -v at="$SOURCE_DATE_EPOCH" '{ gsub(/"/, "\"\"")
  for (n = split("ctime atime crtime", field, " "); n; n--) printf "sif \"/%s\" %s @%s\n", $0, field[n], at }' >"$scratch/times"
E2FSPROGS_FAKE_TIME=$SOURCE_DATE_EPOCH debugfs -w -f "$scratch/times" "$scratch/ext4" >/dev/null 2>"$scratch/times.log"
if grep -v '^debugfs ' "$scratch/times.log" >&2; then fail "the times of some files could not be set"; fi
e2fsck -fn "$scratch/ext4" >/dev/null 2>&1 || fail "the system's partition is not clean"

# -- the card ---------------------------------------------------------------------------------------------------------------------
image=$scratch/$name.img
truncate -s "$((begin_mib + boot_mib + root_mib + 1))M" "$image"
printf '%s\n' "label: dos" "label-id: 0x$disk" "unit: sectors" \
  "start=$((begin_mib * 2048)), size=$((boot_mib * 2048)), type=c, bootable" \
  "start=$(((begin_mib + boot_mib) * 2048)), size=$((root_mib * 2048)), type=83" | sfdisk -q "$image"
dd if="$scratch/fat" of="$image" bs=$mib seek=$begin_mib conv=notrunc,sparse status=none
dd if="$scratch/ext4" of="$image" bs=$mib seek=$((begin_mib + boot_mib)) conv=notrunc,sparse status=none
rm -rf "$scratch/fat" "$scratch/ext4" "$scratch/system"
xz -T0 "-${BASTIDE_XZ:-6}" -c "$image" >"$out/$name.img.xz.part"
mv "$out/$name.img.xz.part" "$out/$name.img.xz"
sort "$scratch/packages" >"$out/$name.packages"
echo "$models" >"$out/$name.models"
echo "image: $out/$name.img.xz ($(du -m "$out/$name.img.xz" | cut -f1) MB, $((begin_mib + boot_mib + root_mib + 1)) MB on the card," \
  "$(wc -l <"$out/$name.packages") packages, bastide $version, starts on: $models)"
