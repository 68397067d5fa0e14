#!/usr/bin/env bash
# Formats the C files given, or all of them.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
if [ $# -gt 0 ]; then
    clang-format -i "$@"
else
    cd "$root"
    find fmu_src cli tests bench modelDescription examples -name '*.[ch]' -print0 2>/dev/null | xargs -0 -r clang-format -i
fi
