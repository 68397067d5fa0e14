#!/usr/bin/env bash
# Before a commit: format, spelling and vocabulary of the files that are staged, or of all with `check.sh all`. `check.sh install` makes it the
# pre-commit hook of this checkout. ./test.sh checks the same on all files (tests/arch).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

case "${1-}" in
install)
    hook="$(git rev-parse --git-path hooks/pre-commit)"
    [ ! -e "$hook" ] || grep -q build/check.sh "$hook" || fail "$hook exists: add a line that calls build/check.sh"
    mkdir -p "$(dirname "$hook")"
    printf '#!/bin/sh\nexec build/check.sh\n' >"$hook"
    chmod +x "$hook"
    exit 0
    ;;
all) mapfile -d '' -t files < <(git ls-files -z) ;;
'') mapfile -d '' -t files < <(git diff --cached --name-only -z --diff-filter=d) ;;
*) fail "usage: check.sh [all|install]" ;;
esac
[ -x "$python" ] || fail "build/out/venv is missing: run build/setup.sh"
[ ${#files[@]} -gt 0 ] || exit 0

# what is staged, which need not be what stands in the working tree
staged="$(mktemp -d)"
trap 'rm -rf "$staged"' EXIT
printf '%s\0' "${files[@]}" .clang-format build/codespell.cfg | git checkout-index --prefix="$staged/" -z --stdin
cd "$staged"
sources=()
for file in "${files[@]}"; do [[ "$file" != *.[ch] ]] || sources+=("$file"); done
[ ${#sources[@]} -eq 0 ] || clang-format --dry-run -Werror "${sources[@]}" || fail "not formatted: build/format.sh"
"$out/venv/bin/codespell" --config build/codespell.cfg "${files[@]}" || fail "spelling: mend it, or add the word to build/codespell.cfg"
cd "$root"
"$python" -m pytest -q tests/arch/test_vocabulary.py >/dev/null || fail "vocabulary: $python -m pytest tests/arch/test_vocabulary.py"
