#!/usr/bin/env bash
# Writes the lock files of what is installed from package registries: requirements*.txt beside this script, from requirements*.in, and
# view/page/package-lock.json, from package.json. Versions that are locked stay as they are, if they satisfy the new requirements;
# lock.sh --upgrade takes the newest ones.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case "${1-}" in
'' | --upgrade) ;;
*) fail "usage: lock.sh [--upgrade]" ;;
esac
lock_out
python3 -m venv "$out/uv" && "$out/uv/bin/pip" install -q --disable-pip-version-check uv || fail "cannot install uv"
for name in requirements requirements-tools requirements-exudyn; do
    say "build/$name.txt"
    (cd "$root/build" && "$out/uv/bin/uv" pip compile -q --generate-hashes --no-emit-index-url --no-annotate --python-version 3.11 \
        --custom-compile-command build/lock.sh "$@" "$name.in" -o "$name.txt")
done
say "view/page/package-lock.json"
[ $# -eq 0 ] || rm -f "$root/view/page/package-lock.json"
(cd "$root/view/page" && npm install --package-lock-only --ignore-scripts --no-audit --no-fund --omit-lockfile-registry-resolved)
rm -rf "$out/uv"
