#!/usr/bin/env bash
# Makes a Debian with bastide in it a card's own. build.sh calls it while the system is made.
#   furnish.sh ROOT DISK-ID MIRROR SUITE
set -euo pipefail
root=$1 disk=$2 mirror=$3 suite=$4
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root "$@"; }

rm -f "$root/etc/hostname" # mmdebstrap's is the building machine's, mode and all
echo bastide >"$root/etc/hostname"
printf '127.0.0.1\tlocalhost\n127.0.1.1\tbastide\n::1\tlocalhost ip6-localhost ip6-loopback\n' >"$root/etc/hosts"
printf '%s\n' "PARTUUID=$disk-02 / ext4 defaults,noatime 0 1" "PARTUUID=$disk-01 /boot/firmware vfat defaults,noatime 0 2" \
  >"$root/etc/fstab"
echo "LANG=C.UTF-8" >"$root/etc/default/locale"
cat >"$root/etc/apt/sources.list.d/debian.sources" <<EOF
Types: deb
URIs: $mirror/debian
Suites: $suite $suite-updates
Components: main non-free-firmware
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: $mirror/debian-security
Suites: $suite-security
Components: main non-free-firmware
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
EOF
if grep -qs ' \[signed-by=' "$root/etc/apt/sources.list"; then # Raspberry Pi's: with the key that its own package brought
  sed -n 's|^deb \[signed-by=[^]]*\]|deb [signed-by=/usr/share/keyrings/raspberrypi-archive-keyring.gpg]|p' \
    "$root/etc/apt/sources.list" >"$root/etc/apt/sources.list.d/raspberrypi.list"
fi
rm -f "$root/etc/apt/sources.list"

# The page at http://bastide.local: a port that needs no number, for a service that has no rights.
sed -i 's/--port 8000/--port 80/' "$root/etc/bastide/bastide.conf"
sed -i 's/<port>8000</<port>80</' "$root/etc/avahi/services/bastide.service"
inside systemctl -q enable bastide-screen.service bastide-first-start.service bastide-imager.service
inside systemctl -q disable ssh.service || true
rm -f "$root"/etc/ssh/ssh_host_* # the first start makes this card's own
touch "$root/etc/bastide/first-start"

mkdir -p "$root/boot/firmware"
inside /opt/bastide/.venv/bin/bastide card template >"$root/boot/firmware/bastide.txt"
# What Raspberry Pi Imager's settings are done with, under the names that it looks for; a Raspberry Pi OS has its own.
for tool in raspberrypi-sys-mods/imager_custom userconf-pi/userconf; do
  mkdir -p "$root/usr/lib/${tool%/*}"
  ln -sf "/usr/lib/bastide-card/${tool#*/}" "$root/usr/lib/$tool"
done
# Where Raspberry Pi Imager believes the partition to be.
ln -sf firmware/firstrun.sh "$root/boot/firstrun.sh"
if [ -e "$root/etc/kernel/postinst.d/z50-raspi-firmware" ]; then # Debian's: writes cmdline.txt and config.txt from this
  # It leaves out cma=64M, with which a Pi 4 may not start, only on a Pi 4 itself. The kernel and the device tree have their own.
  sed -i "s|^#\?ROOTPART=.*|ROOTPART=PARTUUID=$disk-02|; s|^#\?CONSOLES=.*|CONSOLES=\"ttyS1,115200 tty1\"|; s|^#\?CMA=.*|CMA=0|" \
    "$root/etc/default/raspi-firmware"
  echo "quiet consoleblank=0" >"$root/etc/default/raspi-extra-cmdline"
  inside env DEB_MAINT_PARAMS=configure /etc/kernel/postinst.d/z50-raspi-firmware
elif ls "$root"/boot/vmlinuz-* >/dev/null 2>&1; then # Raspberry Pi's: copies kernels, and leaves these to whoever makes a card
  echo "console=serial0,115200 console=tty1 root=PARTUUID=$disk-02 rootfstype=ext4 fsck.repair=yes rootwait quiet consoleblank=0" \
    >"$root/boot/firmware/cmdline.txt"
  printf '%s\n' 'camera_auto_detect=1' 'display_auto_detect=1' 'auto_initramfs=1' 'dtoverlay=vc4-kms-v3d' 'disable_fw_kms_setup=1' \
    'arm_64bit=1' 'arm_boost=1' '[cm4]' 'otg_mode=1' '[all]' >"$root/boot/firmware/config.txt"
fi

# What belongs to one machine, or to the making.
: >"$root/etc/machine-id"
rm -f "$root/var/lib/dbus/machine-id" "$root/var/lib/systemd/random-seed" "$root/etc/resolv.conf" "$root"/etc/*- \
  "$root"/var/log/apt/* "$root"/var/log/*.log "$root"/var/cache/debconf/*-old "$root"/var/lib/dpkg/*-old
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* "$root"/var/log/journal "$root"/var/cache/ldconfig/*
