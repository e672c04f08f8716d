#!/usr/bin/env bash
# Sets up the broker of a club evening on a Raspberry Pi, Debian or Ubuntu: Debian's mosquitto with users, rights and TLS.
#   sudo hardware/broker.sh --tables 12          "Table 1" to "Table 12", the hub and Home Assistant
#   sudo hardware/broker.sh --table "Round one"  one more table; as often as you like
# Every user gets a password of its own, once; they lie in /etc/mosquitto/bastide/secrets, which only root reads. Run again,
# it keeps passwords and certificates. BASTIDE_ETC, BASTIDE_PORT and BASTIDE_TLS_PORT are for tests.
set -euo pipefail

ETC=${BASTIDE_ETC:-/etc/mosquitto}
OWN=$ETC/bastide CONF=$ETC/conf.d/bastide.conf
DAYS=3650
here=$(cd "$(dirname "$0")/mosquitto" && pwd)

say() { echo "broker: $*"; }
fail() { echo "broker: $*" >&2; exit 1; }
usage() { sed -n '2,4s/^# *//p' "$0"; }

tables=()
while [ $# -gt 0 ]; do
  case $1 in
    --tables)
      [[ ${2:-} =~ ^[1-9][0-9]{0,2}$ ]] || fail "--tables needs a number, like 12"
      for n in $(seq "$2"); do tables+=("Table $n"); done; shift ;;
    --table) [ -n "${2:-}" ] || fail "--table needs a name, like \"Table 4\""; tables+=("$2"); shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
[ ${#tables[@]} -gt 0 ] || { usage >&2; exit 2; }
[ "$(id -u)" = 0 ] || [ -n "${BASTIDE_ETC:-}" ] || fail "must be root: sudo hardware/broker.sh --tables 12"

slug() { # as bastide/club/message.py makes it
  local plain
  plain=$(printf %s "$1" | iconv -f UTF-8 -t ASCII//TRANSLIT 2>/dev/null | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9]+/-/g; s/^-+|-+$//g' | cut -c1-40)
  [ -n "$plain" ] || fail "$1: a table's name needs a letter or a digit of a to z or 0 to 9 here"
  echo "$plain"
}

for table in "${tables[@]}"; do # before anything is installed or written
  called=$(slug "$table")
  [[ ! $called =~ ^(hub|homeassistant)$ ]] || fail "$table: that is not a table's name here"
done

if ! command -v mosquitto_passwd >/dev/null 2>&1 || ! command -v openssl >/dev/null 2>&1; then
  say "installing mosquitto"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mosquitto openssl >/dev/null
fi

umask 077
mkdir -p "$OWN/secrets" "$ETC/conf.d"

# -- users ------------------------------------------------------------------------------------------------------------
touch "$OWN/passwords"
user() { # user NAME: a password of its own, unless it has one
  [ -s "$OWN/secrets/$1" ] && grep -q "^$1:" "$OWN/passwords" && return
  openssl rand -hex 12 >"$OWN/secrets/$1"
  # Not on the command line, where every user of this machine could see it.
  grep -v "^$1:" "$OWN/passwords" >"$OWN/passwords.new" || true
  printf '%s:%s\n' "$1" "$(cat "$OWN/secrets/$1")" >"$OWN/one"
  mosquitto_passwd -U "$OWN/one"
  cat "$OWN/one" >>"$OWN/passwords.new"
  mv "$OWN/passwords.new" "$OWN/passwords"
  rm -f "$OWN/one"
}
user hub
user homeassistant
for table in "${tables[@]}"; do user "$(slug "$table")"; done

# -- certificates -----------------------------------------------------------------------------------------------------
name=$(hostname)
if [ ! -s "$OWN/ca.crt" ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days "$DAYS" -subj "/CN=bastide club on $name" \
    -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign,cRLSign" \
    -keyout "$OWN/ca.key" -out "$OWN/ca.crt" 2>/dev/null
fi
if [ ! -s "$OWN/server.crt" ]; then
  addresses=$(hostname -I 2>/dev/null | tr ' ' '\n' | sed '/^$/d; s/^/,IP:/' | tr -d '\n' || true)
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$name" -keyout "$OWN/server.key" \
    -out "$OWN/server.csr" 2>/dev/null
  printf 'subjectAltName=DNS:%s,DNS:%s.local,DNS:localhost,IP:127.0.0.1%s\nextendedKeyUsage=serverAuth\n' \
    "$name" "$name" "$addresses" >"$OWN/server.ext"
  openssl x509 -req -in "$OWN/server.csr" -CA "$OWN/ca.crt" -CAkey "$OWN/ca.key" -CAcreateserial -days "$DAYS" \
    -extfile "$OWN/server.ext" -out "$OWN/server.crt" 2>/dev/null
  rm -f "$OWN/server.csr" "$OWN/server.ext"
fi

# -- configuration ----------------------------------------------------------------------------------------------------
cp "$here/bastide.acl" "$OWN/acl"
sed "s|/etc/mosquitto|$ETC|; s|^listener 1883|listener ${BASTIDE_PORT:-1883}|; s|^listener 8883|listener ${BASTIDE_TLS_PORT:-8883}|" \
  "$here/bastide.conf" >"$CONF"
chmod 644 "$CONF" "$OWN/ca.crt"
chmod 755 "$OWN"
if getent passwd mosquitto >/dev/null && [ "$(id -u)" = 0 ]; then
  chown mosquitto "$OWN/passwords" "$OWN/acl" "$OWN/server.key" "$OWN/server.crt"
fi
if [ -z "${BASTIDE_ETC:-}" ] && [ -d /run/systemd/system ]; then
  systemctl enable mosquitto >/dev/null 2>&1
  systemctl restart mosquitto || fail "mosquitto did not start: journalctl -u mosquitto -n 20 says why"
fi
say "done: mqtts://$name.local, certificate $OWN/ca.crt, passwords in $OWN/secrets"
say "at a table: bastide serve ... --mqtt mqtts://$(slug "${tables[0]}")@$name.local --mqtt-ca ca.crt --table \"${tables[0]}\""
