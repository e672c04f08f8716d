# shellcheck shell=bash
# Sourced: a root's own systemd in namespaces of this machine, as root.
#   boot ROOT NAME NET [WORD ...]   NET: shared with this machine, or own (nothing but a loopback). The words are what a
#                                   kernel's command line would say. Sets init, its process, and outer, which ends with it.
#   inside COMMAND...               in there
#   unboot                          as if the power went
# CHECKOUT, where it is set, is at /tmp/checkout in there, read-only.
init='' outer='' group=''
boot() {
  local root=$1 name=$2 net=$3 version=2
  shift 3
  # A control group of its own, which is all of them to the system inside.
  group=/sys/fs/cgroup/$name
  if [ -d /sys/fs/cgroup/systemd ]; then version=1 group=/sys/fs/cgroup/systemd/$name; fi
  mkdir -p "$group"
  local spaces=(--pid --fork --mount --uts --ipc --cgroup)
  [ "$net" = shared ] || spaces+=(--net)
  # shellcheck disable=SC2016
  local begin='
    root=$1 checkout=$2 version=$3 net=$4; shift 4
    mount --make-rprivate /; mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"; mount -t sysfs -o ro sysfs "$root/sys"
    # What sysctl sets is this machine'"'"'s, but for the settings of a network of its own.
    mount --bind "$root/proc/sys" "$root/proc/sys"; mount -o remount,bind,ro "$root/proc/sys"
    if [ "$net" = own ]; then mount --bind "$root/proc/sys/net" "$root/proc/sys/net"; mount -o remount,bind,rw "$root/proc/sys/net"; fi
    if [ "$version" = 2 ]; then mount -t cgroup2 cgroup "$root/sys/fs/cgroup"
    else
      mount -t tmpfs tmpfs "$root/sys/fs/cgroup"; mkdir "$root/sys/fs/cgroup/systemd"
      mount -t cgroup -o none,name=systemd,xattr cgroup "$root/sys/fs/cgroup/systemd"
    fi
    mount -t tmpfs -o mode=755 tmpfs "$root/dev"
    for n in null zero full random urandom tty; do touch "$root/dev/$n"; mount --bind "/dev/$n" "$root/dev/$n"; done
    mkdir "$root/dev/pts" "$root/dev/shm"; mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    ln -s pts/ptmx "$root/dev/ptmx"; ln -s /proc/self/fd "$root/dev/fd"
    mount -t tmpfs tmpfs "$root/run"; mount -t tmpfs tmpfs "$root/tmp"
    if [ -n "$checkout" ]; then mkdir "$root/tmp/checkout"; mount --bind -o ro "$checkout" "$root/tmp/checkout"; fi
    exec chroot "$root" env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd "$@"'
  # shellcheck disable=SC2016
  bash -c 'echo $$ >"$1/cgroup.procs"; shift
    exec unshare "$@"' _ "$group" "${spaces[@]}" \
    bash -c "$begin" _ "$root" "${CHECKOUT:-}" "$version" "$net" "$@" </dev/null >"$root.boot.log" 2>&1 &
  outer=$!
  init=
  while [ -z "$init" ]; do
    kill -0 "$outer" 2>/dev/null || { echo "boot: systemd did not start; see $root.boot.log" >&2; return 1; }
    init=$(pgrep -P "$outer" || true)
    [ -n "$init" ] && [ "$(readlink "/proc/$init/root")" = "$root" ] || { init=; sleep 0.2; }
  done
}
inside() { nsenter -t "$init" -m -n -p -u -i -C -r -w env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/root "$@"; }
unboot() {
  if [ -n "$init" ]; then kill -9 "$init" 2>/dev/null || true; fi
  if [ -n "$outer" ]; then wait "$outer" 2>/dev/null || true; fi
  if [ -n "$group" ]; then find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true; fi
  init='' outer=''
}
