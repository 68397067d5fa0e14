#!/usr/bin/env bash
# All checks: builds without warnings; the C tests in the release build, under the sanitizers, with clang, and with SUNDIALS 7 if it is
# available; a short run of every fuzzing harness; the Python tests.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/build/common.sh"
cd "$root" || exit 1

usage="usage: ./test.sh    set up, build, run all tests; nonzero exit code if one fails"
case "${1-}" in
'') ;;
-h | --help) echo "$usage"; exit 0 ;;
*) echo "$usage" >&2; exit 2 ;;
esac

failed=()
step() # step NAME COMMAND...: later steps run even if one fails
{
    local name="$1" from=$SECONDS
    shift
    say "$name"
    if "$@"; then say "$name: ok, $((SECONDS - from)) s"
    else say "$name: FAILED, $((SECONDS - from)) s"; failed+=("$name"); return 1
    fi
}

python_tests()
{
    LIMBER="$out/limber" LIMBER_SANITIZED="$out/sanitize/limber" "$python" -m pytest -q -n "$(nproc)" --dist loadfile tests
}

step "set-up" "$root/build/setup.sh" || exit 1
step "build, release" build_in "$out" -DLIMBER_WERROR=ON && step "C tests, release" c_tests "$out"
step "build, sanitizers" build_in "$out/sanitize" -DLIMBER_SANITIZE=ON -DLIMBER_WERROR=ON \
    && step "C tests, sanitizers" c_tests "$out/sanitize"
targets="c_tests limber_cli limber_fmu" step "build, clang" build_in "$out/clang" -DCMAKE_C_COMPILER=clang -DLIMBER_WERROR=ON && step "C tests, clang" c_tests "$out/clang"
step "C tests, SUNDIALS 7" "$root/build/sundials7.sh"
step "fuzzing, 10 s for each harness" "$python" tests/fuzz/run.py 10 --quick --timeout 60
step "Python tests" python_tests

if [ ${#failed[@]} -gt 0 ]; then
    printf -v list ', %s' "${failed[@]}"
    echo "FAILED after $SECONDS s: ${list:2}"
    exit 1
fi
echo "ALL PASSED in $SECONDS s"
