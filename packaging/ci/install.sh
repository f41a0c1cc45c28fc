#!/usr/bin/env bash
# Downloads a release of brief for this machine, checks its SHA-256 and puts it into a directory.
#
#   install.sh VERSION DIRECTORY
#
# BRIEF_RELEASES is the address that holds the directories of the versions, such as
# https://github.com/acme/briefing/releases/download; `file://` works, too.
set -euo pipefail
version=${1#v} directory=$2
releases=${BRIEF_RELEASES:?the address of the releases}

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) target=x86_64-unknown-linux-gnu ;;
  Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-gnu ;;
  Darwin-x86_64) target=x86_64-apple-darwin ;;
  Darwin-arm64) target=aarch64-apple-darwin ;;
  MINGW*-x86_64 | MSYS*-x86_64) target=x86_64-pc-windows-msvc ;;
  *) echo "error: there is no release for $(uname -s) on $(uname -m)" >&2; exit 2 ;;
esac
name=brief-$version-$target archive=$name.tar.gz suffix=
case "$target" in *windows*) archive=$name.zip suffix=.exe ;; esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
for file in SHA256SUMS "$archive"; do
  curl --fail --silent --show-error --location --retry 3 --output "$file" "$releases/v$version/$file"
done
grep -F "  $archive" SHA256SUMS > wanted || { echo "error: SHA256SUMS does not name $archive" >&2; exit 2; }
if command -v sha256sum >/dev/null; then sha256sum --quiet --check wanted; else shasum -a 256 --quiet --check wanted; fi
case "$archive" in *.zip) unzip -q "$archive" ;; *) tar -xzf "$archive" ;; esac
mkdir -p "$directory"
# `brief` looks for `brief-agent` next to itself.
cp "$name/bin/brief$suffix" "$name/bin/brief-agent$suffix" "$directory/"
echo "$("$directory/brief$suffix" --version) in $directory" >&2
