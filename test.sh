#!/usr/bin/env bash
# Everything that must hold: builds without a warning, the C tests plain and under the sanitizers, the Python tests.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/build/common.sh"
cd "$root" || exit 1

usage="usage: ./test.sh    set up, build, run all tests; nonzero when one fails"
case "${1-}" in
'') ;;
-h | --help) echo "$usage"; exit 0 ;;
*) echo "$usage" >&2; exit 2 ;;
esac

failed=()
step() # step NAME COMMAND...: a failed step does not stop the next ones
{
    local name="$1" from=$SECONDS
    shift
    say "$name"
    if "$@"; then say "$name: ok, $((SECONDS - from)) s"
    else say "$name: FAILED, $((SECONDS - from)) s"; failed+=("$name"); return 1
    fi
}

c_tests() # a directory without tests is a failure: it would prove nothing
{
    ctest --test-dir "$1" --output-on-failure --no-tests=error -j "$(nproc)" --quiet -O "$1/tests.log" \
        2>/dev/null || { grep -v ' Passed ' "$1/tests.log" | head -n 200; echo "all of it: ${1#"$root"/}/tests.log"; return 1; }
    grep 'tests passed' "$1/tests.log"
}

python_tests()
{
    LIMBER="$out/limber" LIMBER_SANITIZED="$out/sanitize/limber" "$python" -m pytest -q -n "$(nproc)" --dist loadfile tests
}

step "set-up" "$root/build/setup.sh" || exit 1
step "build, release" build_in "$out" && step "C tests, release" c_tests "$out"
step "build, sanitizers" build_in "$out/sanitize" -DLIMBER_SANITIZE=ON \
    && step "C tests, sanitizers" c_tests "$out/sanitize"
step "Python tests" python_tests

if [ ${#failed[@]} -gt 0 ]; then
    printf -v list ', %s' "${failed[@]}"
    echo "FAILED after $SECONDS s: ${list:2}"
    exit 1
fi
echo "ALL PASSED in $SECONDS s"
