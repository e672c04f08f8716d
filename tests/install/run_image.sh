#!/usr/bin/env bash
# run_image.sh [--root] IMAGE.img.xz [DIR]: a card's image (hardware/image/build.sh) read back, customised as Raspberry Pi
# Imager does, and started: its own kernel, initramfs and system in an emulated 64 bit ARM machine, without root and loop
# devices. Shows that partitions and file systems are whole, that the first start takes the whole card and makes keys, that
# Imager's and bastide.txt's settings arrive and their secrets go, and that the page is served at port 80 and again after a
# power cut. What a Pi's firmware, its Wi-Fi and its cameras do needs a Pi. Takes minutes: every instruction is emulated.
# --root, as root: what is on the partitions is unpacked and its systemd started in namespaces of this machine, without a
# kernel, a disk or a network of its own. That takes seconds with an amd64 image, and says nothing of growing and keys.
set -euo pipefail
way=machine
if [ "${1:-}" = --root ]; then way=root; shift; fi
image=$(realpath "${1:?"which image?"}") work=$(realpath -m "${2:-/var/tmp/bastide-card}") here=$(realpath "$(dirname "$0")")
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin
step() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
die() { echo "run_image.sh: $*" >&2; tail -n 30 "$work/console" >&2 2>/dev/null || true; exit 1; }
[ $way = machine ] || [ "$(id -u)" = 0 ] || die "--root must be root"
emulator=qemu-system-aarch64
if [ $way = root ]; then
  emulator=nsenter
  # shellcheck disable=SC1091 # checked by itself
  source "$here/boot.sh"
  # shellcheck disable=SC1091 # checked by itself
  if [[ $image == *-arm64.img.xz ]]; then source "$here/../../hardware/image/emulate.sh"; fi
fi
for tool in $emulator mcopy sfdisk e2fsck fsck.vfat debugfs xz; do
  command -v "$tool" >/dev/null || die "$tool is missing: apt-get install -y qemu-system-arm mtools fdisk e2fsprogs dosfstools xz-utils"
done
mkdir -p "$work"
disk=$work/card.img
rm -f "$work/console"

# -- read back --------------------------------------------------------------------------------------------------------------
xz -dc "$image" >"$disk"
table() { sfdisk -J "$disk" | python3 -c 'import json, sys
for p in json.load(sys.stdin)["partitiontable"]["partitions"]: print(p["start"], p["size"], p["type"], p.get("bootable", False))'; }
mapfile -t parts < <(table)
[ ${#parts[@]} = 2 ] || die "the image has ${#parts[@]} partitions"
read -r fat_at fat_size fat_type bootable <<<"${parts[0]}"
read -r root_at root_size root_type _ <<<"${parts[1]}"
[ "$fat_type $bootable $root_type" = "c True 83" ] || die "the partitions are of other kinds: ${parts[*]}"
fat="$disk@@$((fat_at * 512))" root="$disk?offset=$((root_at * 512))"
dd if="$disk" of="$work/fat" bs=512 skip="$fat_at" count="$fat_size" status=none
fsck.vfat -n "$work/fat" >"$work/fsck" || die "the boot partition is not clean: $(cat "$work/fsck")"
rm "$work/fat"
e2fsck -fn "$root" >"$work/fsck" 2>&1 || die "the root partition is not clean: $(cat "$work/fsck")"
on_card() { debugfs -R "cat $1" "$root" 2>/dev/null; }
boot_file() { mcopy -n -i "$fat" "::$1" - 2>/dev/null; }
there() { mdir -b -i "$fat" "::$1" >/dev/null 2>&1; }
boot_file bastide.txt | grep -q '^wifi-password =.$' || die "bastide.txt is not the empty one"
[ "$(on_card /etc/hostname)" = bastide ] && [ -z "$(on_card /etc/machine-id)" ] || die "name or machine-id is not a fresh card's"
if debugfs -R 'ls -p /etc/ssh' "$root" 2>/dev/null | grep -q ssh_host_; then die "every card would have the same keys"; fi
said="$(du -m "$image" | cut -f1) MB, $((fat_size / 2048)) + $((root_size / 2048)) MB on the card; both file systems are clean"
if [[ $image == *-amd64.img.xz ]]; then # for tests: nothing that a Pi starts
  [ $way = root ] || die "an amd64 image has no kernel: --root starts what it has"
  touch "$work/cmdline.was"
else
  for file in cmdline.txt config.txt start4.elf fixup4.dat bcm2711-rpi-4-b.dtb; do
    there "$file" || die "$file is not on the boot partition"
  done
  kernel=$(boot_file config.txt | sed -n 's/^kernel=//p') initrd=$(boot_file config.txt | sed -n 's/^initramfs \([^ ]*\).*/\1/p')
  boot_file "$kernel" >"$work/kernel" && boot_file "$initrd" >"$work/initrd"
  [ -s "$work/kernel" ] && [ -s "$work/initrd" ] || die "config.txt names a kernel or initramfs that is not there: $kernel $initrd"
  ident=$(sfdisk --disk-id "$disk")
  boot_file cmdline.txt | grep -q "root=PARTUUID=${ident#0x}-02 " || die "the kernel is told another root: $(boot_file cmdline.txt)"
  boot_file cmdline.txt | grep -q 'cma=' && die "a Pi 4 may not start with this: $(boot_file cmdline.txt)"
  boot_file cmdline.txt >"$work/cmdline.was"
  said+=", $kernel"
fi
step "$said"

# -- customised, as Imager does it, and as somebody with an editor does ----------------------------------------------------
psk=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
cat >"$work/firstrun.sh" <<EOF
#!/bin/sh

set +e

if [ -f /usr/lib/raspberrypi-sys-mods/imager_custom ]; then
   /usr/lib/raspberrypi-sys-mods/imager_custom set_hostname table-2
   /usr/lib/raspberrypi-sys-mods/imager_custom enable_ssh -k 'ssh-ed25519 AAAA anna'
fi
if [ -f /usr/lib/userconf-pi/userconf ]; then
   /usr/lib/userconf-pi/userconf 'anna' ''
fi
if [ -f /usr/lib/raspberrypi-sys-mods/imager_custom ]; then
   /usr/lib/raspberrypi-sys-mods/imager_custom set_wlan  -h 'Our "home"' '$psk' 'DE'
   /usr/lib/raspberrypi-sys-mods/imager_custom set_keymap 'de'
   /usr/lib/raspberrypi-sys-mods/imager_custom set_timezone 'Europe/Berlin'
fi
rm -f /boot/firstrun.sh
sed -i 's| systemd.run.*||g' /boot/cmdline.txt
exit 0
EOF
printf '%s systemd.run=/boot/firstrun.sh systemd.run_success_action=reboot systemd.unit=kernel-command-line.target\n' \
  "$(sed 's/ *$//' "$work/cmdline.was")" >"$work/cmdline.txt"
boot_file bastide.txt | sed 's/^pin =/pin = 4711/; s/^language =/language = de/' >"$work/bastide.txt"
for file in firstrun.sh cmdline.txt bastide.txt; do mcopy -o -i "$fat" "$work/$file" ::; done

if [ $way = root ]; then
  tree=$work/root
  rm -rf --one-file-system "$tree"
  mkdir "$tree"
  debugfs -R "rdump / $tree" "$root" >"$work/rdump" 2>&1 || die "the root could not be unpacked: $(tail -n 3 "$work/rdump")"
  mcopy -s -n -m -i "$fat" '::*' "$tree/boot/firmware/"
  chmod -R u=rwX,go=rX,a+x "$tree/boot/firmware" # as a mount has them
  rm "$disk"
  # As the kernel's are: the words are process 1's. What needs a disk waits for one that a container has not.
  on_card() { cat "$tree$1" 2>/dev/null; }
  boot_file() { cat "$tree/boot/firmware/$1"; }
  there() { [ -e "$tree/boot/firmware/$1" ]; }
  start() {
    local words
    mapfile -t words < <(boot_file cmdline.txt | tr ' ' '\n' | grep '^systemd\.')
    boot "$tree" bastide-card own "${words[@]}" || die "systemd did not start; see $tree.boot.log"
  }
  running() { kill -0 "$outer" 2>/dev/null; }
  # shellcheck disable=SC2034 # init is boot.sh's
  ended() { wait "$outer" || true; init='' outer=''; } # what ends a container ends its first process by a signal
  page() { inside /usr/bin/python3 -c "$fetch" http://127.0.0.1/ 2>/dev/null; }
  cut_power() { unboot; }
  turn_off() { inside systemctl poweroff; }
  trap 'unboot; if declare -F _undo >/dev/null; then _undo; fi' EXIT
else
  truncate -s 8G "$disk"
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  machine=
  start() { # until it turns itself off, or is told to; the console is kept. Its clock counts its instructions, 500 million a
    # second, so that no time-out inside measures how busy this machine is.
    qemu-system-aarch64 -M virt -cpu cortex-a72 -m 2048 -accel tcg,thread=single -icount shift=1 -no-reboot -display none \
      -kernel "$work/kernel" -initrd "$work/initrd" -append "$(boot_file cmdline.txt | sed 's/console=[^ ]*//g') console=ttyAMA0" \
      -drive "file=$disk,format=raw,if=virtio" -netdev "user,id=n,hostfwd=tcp:127.0.0.1:$port-:80" -device virtio-net-pci,netdev=n,romfile= \
      -serial "file:$work/console" -monitor "unix:$work/monitor,server,nowait" &
    machine=$!
  }
  trap 'kill "${machine:-}" 2>/dev/null || true' EXIT
  tell() { python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.recv(999); s.sendall(sys.argv[2].encode() + b"\n"); s.recv(999)' "$work/monitor" "$1"; }
  page() { python3 -c "$fetch" "http://127.0.0.1:$port/" 2>/dev/null; }
  running() { kill -0 "$machine" 2>/dev/null; }
  ended() { wait "$machine" || die "it ended with an error"; machine=; }
  cut_power() { kill -9 "$machine" && { wait "$machine" || true; } 2>/dev/null; }
  turn_off() { tell system_powerdown; }
fi
fetch='import json, sys, urllib.request
assert b"<html" in urllib.request.urlopen(sys.argv[1], timeout=120).read()
assert json.load(urllib.request.urlopen(sys.argv[1] + "api/state", timeout=120))["status"]'
served() { for _ in $(seq 240); do if page; then return; fi; running || die "it turned itself off"; sleep 5; done; die "there is no page"; }

start
ended
if there firstrun.sh; then die "firstrun.sh is still there"; fi
boot_file cmdline.txt | grep -q systemd.run && die "it would run firstrun.sh for ever: $(boot_file cmdline.txt)"
boot_file bastide.txt | grep -q 4711 && die "the PIN is still on the card"
step "started: bastide.txt was read, Imager's settings were taken, and it starts again by itself"
start
served
step "the page is there"
cut_power
start
served
step "the power was cut; the page is there again"
turn_off
ended

# -- what it left ---------------------------------------------------------------------------------------------------------------
if [ $way = machine ]; then
  read -r _ grown _ _ < <(table | tail -n 1)
  [ $((grown / 2048)) -gt 7000 ] || die "the root has $((grown / 2048)) MB of a card of 8 GB"
  e2fsck -fn "$root" >"$work/fsck" 2>&1 || die "the root partition is not clean afterwards: $(cat "$work/fsck")"
  blocks=$(dumpe2fs -h "$root" 2>/dev/null | sed -n 's/^Block count: *//p')
  [ $((blocks * 4 / 1024)) -gt 7000 ] || die "the file system has not grown: $((blocks * 4 / 1024)) MB"
  for key in ed25519 rsa; do on_card "/etc/ssh/ssh_host_${key}_key.pub" | grep -q ssh- || die "no $key key was made"; done
  step "clean, $((grown / 2048)) MB of 8 GB, keys of its own"
fi
[ "$(on_card /etc/hostname)" = table-2 ] || die "Imager's name did not arrive: $(on_card /etc/hostname)"
wifi=$(on_card /etc/NetworkManager/system-connections/bastide-wifi.nmconnection)
[[ $wifi == *"ssid=79;117;114;32;34;104;111;109;101;34;"*hidden=true*"psk=$psk"* ]] || die "Imager's Wi-Fi did not arrive: $wifi"
[ "$(on_card /etc/modprobe.d/bastide-wifi.conf)" = "options cfg80211 ieee80211_regdom=DE" ] || die "the country did not arrive"
[ "$(on_card /etc/bastide/card.conf)" = BASTIDE_LANGUAGE=de ] || die "the language did not arrive"
on_card /var/lib/bastide/secrets.json | grep -q scrypt || die "the PIN did not arrive"
on_card /home/anna/.ssh/authorized_keys | grep -q 'AAAA anna' || die "Imager's key did not arrive"
[ -n "$(on_card /etc/machine-id)" ] || die "it has no machine-id"
boot_file bastide.txt | grep -q -e "$psk" -e 4711 && die "a secret is still on the card"
step "name, hidden Wi-Fi, country, language, PIN, user and machine-id are there, no secret on the card"
rm -rf --one-file-system "$disk" "$work/kernel" "$work/initrd" "$work/root"
