#!/usr/bin/env bash
# Before a commit: format, spelling and vocabulary of the files that are staged, or of all with `check.sh all`. `check.sh install` makes it the
# pre-commit hook of this checkout. ./test.sh checks the same on all files (tests/arch).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

case "${1-}" in
install)
    printf '#!/bin/sh\nexec build/check.sh\n' >.git/hooks/pre-commit
    chmod +x .git/hooks/pre-commit
    exit 0
    ;;
all) mapfile -t files < <(git ls-files) ;;
'') mapfile -t files < <(git diff --cached --name-only --diff-filter=d) ;;
*) fail "usage: check.sh [all|install]" ;;
esac
[ -x "$python" ] || fail "build/out/venv is missing: run build/setup.sh"
[ ${#files[@]} -gt 0 ] || exit 0

sources=()
for file in "${files[@]}"; do [[ "$file" != *.[ch] ]] || sources+=("$file"); done
[ ${#sources[@]} -eq 0 ] || clang-format --dry-run -Werror "${sources[@]}" || fail "not formatted: build/format.sh"
"$out/venv/bin/codespell" --config build/codespell.cfg "${files[@]}" || fail "spelling: mend it, or add the word to build/codespell.cfg"
"$python" -m pytest -q tests/arch/test_vocabulary.py >/dev/null || fail "vocabulary: $python -m pytest tests/arch/test_vocabulary.py"
