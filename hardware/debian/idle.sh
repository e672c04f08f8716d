# shellcheck shell=sh
# Put into preinst and prerm by build.sh: whether a game is played, asked before anything of the old version is touched.
option() { sed -n "s/^BASTIDE_OPTIONS=.*--$1[ =]\([^ \"']*\).*/\1/p" /etc/bastide/bastide.conf 2>/dev/null | tail -n 1; }
not_in_a_game() {
  port=$(option port) host=$(option host)
  case $host in '' | 0.0.0.0 | ::) host=127.0.0.1 ;; *:*) host="[$host]" ;; esac
  answer=$(/usr/bin/python3 -I - "http://$host:${port:-8000}" 30 <<'PY'
@ASK@
PY
  ) || answer=nobody # a system whose Python is being exchanged has no table to ask with
  if [ "$answer" = nobody ] && [ -d /run/systemd/system ] && systemctl -q is-active bastide.service; then answer=silent; fi
  case $answer in
    idle | nobody) ;;
    playing)
      echo "bastide: a game is running, and the version that runs stays; end the game first, or come back tomorrow" >&2
      exit 1 ;;
    *)
      echo "bastide: the table does not say whether a game is played; try again, or stop it: sudo systemctl stop bastide" >&2
      exit 1 ;;
  esac
}
