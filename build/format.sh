#!/usr/bin/env bash
# Formats the C files given, or all of them.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
if [ $# -gt 0 ]; then
    clang-format -i "$@"
else
    cd "$root"
    find . -path ./build/out -prune -o -name '*.[ch]' -print0 | xargs -0 -r clang-format -i
fi
