#!/usr/bin/env bash
# Makes a release of what is committed: the archive, its software bill of materials, and a signature of each.
#   hardware/release.sh new-key FILE          a release key (ed25519, asks for a passphrase) and its line for release.signers
#   hardware/release.sh KEY FOLDER            FOLDER/bastide-VERSION.tar.gz, .cdx.json, and .sig of both
# The bill (CycloneDX) lists every package of requirements.lock with version and hashes; the same commit gives the same
# archive. Whoever has the key decides what the tables run: keep it off the machine that builds, or on a hardware token.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
fail() { echo "release: $*" >&2; exit 1; }
[ $# -eq 2 ] || { sed -n '3,4s/^# *//p' "$0" >&2; exit 2; }
command -v ssh-keygen >/dev/null || fail "ssh-keygen is missing: sudo apt install -y openssh-client"

if [ "$1" = new-key ]; then
  [ ! -e "$2" ] || fail "$2 is there already"
  ssh-keygen -q -t ed25519 -C "bastide release key" -f "$2"
  echo "add this line to hardware/release.signers, and keep $2 where nobody else gets it:"
  echo "bastide namespaces=\"bastide-release\" $(cut -d ' ' -f 1,2 "$2.pub")"
  exit 0
fi

key=$1 folder=$2
cd "$here"
[ -f "$key" ] || fail "$key: there is no such key"
[ -d "$folder" ] || fail "$folder: there is no such folder"
[ -z "$(git status --porcelain)" ] || fail "what is not committed would be missing: commit it first"
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' bastide/__init__.py)
archive=$folder/bastide-$version.tar.gz bill=$folder/bastide-$version.cdx.json
[ ! -e "$archive" ] || fail "$archive is there already: a version is released once"
git archive --format=tar --prefix="bastide-$version/" HEAD | gzip -9n >"$archive.part"
.venv/bin/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --mc-type application \
  --output-reproducible --of JSON -o "$bill.part"
mv "$bill.part" "$bill"
mv "$archive.part" "$archive"
for file in "$archive" "$bill"; do ssh-keygen -q -Y sign -f "$key" -n bastide-release "$file"; done
echo "release: $archive and $bill, signed"
