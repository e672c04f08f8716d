#!/usr/bin/env bash
# Makes a release of what is committed, or what comes before one.
#   hardware/release.sh new-key FILE          a release key (ed25519, asks for a passphrase) and its line for release.signers
#   hardware/release.sh version 0.2.0         the number in the one place that has it, and its section in CHANGELOG.md
#   hardware/release.sh KEY FOLDER [SUITE/ARCH ...] [--image URL [option of image/build.sh ...]]   all below, into FOLDER, and the tag vVERSION
# Made are: the source as an archive (which update.sh takes too) and as sdist, the wheel, the Debian packages, each with
# its signature inside, the bill of materials (CycloneDX: every package of requirements.lock with version and hashes), and
# SHA256SUMS of all of it; archive, bill and sums have a .sig beside them. The same commit gives the same archive and
# packages. --image also makes, as root, the image of a card from the newest suite's arm64 package, and the list that
# Raspberry Pi Imager needs to customise it; URL is where FOLDER will be published. Whoever has the key decides what the tables run: keep it off the machine that builds, or on a hardware token.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
fail() { echo "release: $*" >&2; exit 1; }
[ $# -ge 2 ] || { sed -n '3,5s/^# *//p' "$0" >&2; exit 2; }
command -v ssh-keygen >/dev/null || fail "ssh-keygen is missing: sudo apt install -y openssh-client"

if [ "$1" = new-key ]; then
  [ ! -e "$2" ] || fail "$2 is there already"
  [ -d "$(dirname -- "$2")" ] || fail "$(dirname -- "$2"): there is no such folder"
  ssh-keygen -q -t ed25519 -C "bastide release key" -f "$2" || fail "$2: the key was not made"
  echo "add this line to hardware/release.signers, and keep $2 where nobody else gets it:"
  echo "bastide namespaces=\"bastide-release\" $(cut -d ' ' -f 1,2 "$2.pub")"
  exit 0
fi

cd "$here"
current() { sed -n 's/^__version__ = "\(.*\)"$/\1/p' bastide/__init__.py; }
if [ "$1" = version ]; then
  [[ $2 =~ ^[0-9]{1,5}\.[0-9]{1,5}\.[0-9]{1,5}$ ]] || fail "$2: a version is three numbers, like 0.2.0"
  # The first release has the number that is there already.
  if grep -q "^## $2 " CHANGELOG.md || [ "$(printf '%s\n%s\n' "$(current)" "$2" | sort -V | tail -n 1)" != "$2" ]; then
    fail "$2 is not newer than $(current)"
  fi
  sed -n '/^## Upcoming$/,/^## [^U]/p' CHANGELOG.md | grep -q '^- ' || fail "CHANGELOG.md has nothing under Upcoming"
  sed -i "s/^__version__ = \".*\"\$/__version__ = \"$2\"/" bastide/__init__.py
  sed -i "s/^## Upcoming\$/## Upcoming\n\n## $2 ($(date -u +%Y-%m-%d))/" CHANGELOG.md
  echo "release: $2 stands in bastide/__init__.py and CHANGELOG.md; look at both, commit them, then: hardware/release.sh KEY FOLDER"
  exit 0
fi

key=$1 folder=$2 systems=() url=
shift 2
while [ $# -gt 0 ] && [ "$1" != --image ]; do systems+=("$1"); shift; done
if [ $# -gt 0 ]; then
  [ $# -ge 2 ] || fail "--image takes the address where the folder will be published"
  [ "$(id -u)" = 0 ] || fail "--image takes root: the files of a system belong to its users"
  url=$2
  shift 2
fi
[ -f "$key" ] || fail "$key: there is no such key"
[ -d "$folder" ] || fail "$folder: there is no such folder"
[ -z "$(git status --porcelain)" ] || fail "what is not committed would be missing: commit it first"
version=$(current) tag=v$(current)
archive=$folder/bastide-$version.tar.gz bill=$folder/bastide-$version.cdx.json
[ ! -e "$archive" ] || fail "$archive is there already: a version is released once"
grep -q "^## $version (" CHANGELOG.md || fail "CHANGELOG.md has no section $version; first: hardware/release.sh version $version"
if git rev-parse -q --verify "refs/tags/$tag" >/dev/null && [ "$(git rev-list -n 1 "$tag")" != "$(git rev-parse HEAD)" ]; then
  fail "the tag $tag is another commit's: a version is released once"
fi
# One question for the passphrase: an agent of our own signs with the key, and ends with this script.
agent=$(mktemp -d)
trap 'if [ -n "${SSH_AGENT_PID:-}" ]; then ssh-agent -k >/dev/null 2>&1 || true; fi; rm -rf "$agent"' EXIT
eval "$(ssh-agent -s -a "$agent/socket")" >/dev/null
ssh-add -q "$key" || fail "$key cannot be used"
ssh-add -L >"$agent/key.pub"

git archive --format=tar --prefix="bastide-$version/" HEAD | gzip -9n >"$archive.part"
sed "s/^dynamic = .*/version = \"$version\"/" pyproject.toml >"$agent/pyproject.toml"
.venv/bin/cyclonedx-py requirements requirements.lock --pyproject "$agent/pyproject.toml" --mc-type application \
  --output-reproducible --of JSON -o "$bill.part"
mv "$bill.part" "$bill"
mv "$archive.part" "$archive"
for file in "$archive" "$bill"; do ssh-keygen -q -Y sign -f "$agent/key.pub" -n bastide-release "$file"; done
mkdir -p "$folder/python" # its sdist has the archive's name, by Python's rules
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) .venv/bin/uv build -q --wheel --sdist --out-dir "$agent/dist" .
mv "$agent"/dist/bastide-"$version"* "$folder/python"
hardware/debian/build.sh "$folder" "${systems[@]}"
for package in "$folder"/bastide_"$version"+*.deb; do
  hardware/about.py "$package" CHANGELOG.md >"$agent/about.json"
  python3 -I hardware/release_file.py seal "$package" "$agent/about.json" "$agent/key.pub" || fail "$package could not be signed"
done
if [ -n "$url" ]; then
  package=$(find "$folder" -name "bastide_$version+deb*_arm64.deb" | sort -V | tail -n 1)
  [ -n "$package" ] || fail "a card's image takes an arm64 package, and none was made"
  hardware/image/build.sh "$package" "$folder" "$@"
  models=$(find "$folder" -name "bastide-$version-*.models")
  cp web/static/icon.svg "$folder/bastide-$version.svg"
  # shellcheck disable=SC2046 # one model a word
  python3 -I hardware/imager_list.py "${models%.models}.img.xz" "$url" "$version" "$(git log -1 --format=%cs)" $(cat "$models") \
    >"$folder/bastide-$version.rpi-imager-manifest"
  rm "$models"
fi
(cd "$folder" && find . -type f -name "bastide[-_]$version*" ! -name '*.sig' -printf '%P\n' | LC_ALL=C sort |
  xargs sha256sum >SHA256SUMS)
ssh-keygen -q -Y sign -f "$agent/key.pub" -n bastide-release "$folder/SHA256SUMS"
git rev-parse -q --verify "refs/tags/$tag" >/dev/null || git tag -a -m "bastide $version" "$tag"
echo "release: $version is in $folder, signed; publish the whole folder, and push $tag"
