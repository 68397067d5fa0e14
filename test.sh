#!/usr/bin/env bash
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/build/common.sh"
cd "$root" || exit 1

usage()
{
    cat <<'TEXT'
usage: ./test.sh         set up, build, and run the tests: C tests in the release build and under the sanitizers, Python tests
       ./test.sh quick   what a change can break first: one fast build, the C tests of the layers that changed since the last commit
                         and of those above them on fewer random robots, a selection of Python tests
       ./test.sh all     also clang, SUNDIALS 7, fuzzing, importers built from source, all rules on every FMU, failure of every allocation
The exit code is 1 if a test fails.
TEXT
}

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

summary()
{
    if [ ${#failed[@]} -gt 0 ]; then
        printf -v list ', %s' "${failed[@]}"
        echo "FAILED after $SECONDS s: ${list:2}"
        exit 1
    fi
    echo "ALL PASSED in $SECONDS s"
}

pytest() { "$python" -m pytest -q "$@"; }

# ---- quick -----------------------------------------------------------------------------------------------------------------

# Prefixes of the suites of tests/c in the order of the layers; those beside fmu_src come last.
suites=(base math drive robot flex dyn mech ode sim companion controller fmi analysis graph generate scene)

# The files that differ from the last commit, or those of the last commit if none does
changed_files()
{
    local files
    files="$(git diff --name-only HEAD; git ls-files --others --exclude-standard)"
    [ -n "$files" ] || files="$(git show --name-only --format= HEAD)"
    printf '%s\n' "$files"
}

# A pattern of the suites that can see these files: those of the changed folder and of what is above it; a changed suite alone
affected_suites()
{
    local file folder lowest=${#suites[@]} i patterns=()
    while read -r file; do
        case "$file" in
        tests/c/*_test.c) file="${file##*/}"; patterns+=("${file%.c}"); continue ;;
        fmu_src/*) folder="${file#fmu_src/}"; folder="${folder%%/*}" ;;
        generate/graph/*) folder=graph ;;
        analysis/* | generate/*) folder="${file%%/*}" ;;
        view/*) folder=scene ;;
        tests/data/*) folder=robot ;;
        include/* | lib/* | cli/* | modelDescription/* | docs/* | *.md | *.py) continue ;;
        *) folder=base ;;
        esac
        for ((i = 0; i < lowest; i++)); do [ "${suites[i]}" != "$folder" ] || lowest=$i; done
    done
    for ((i = lowest; i < ${#suites[@]}; i++)); do patterns+=("${suites[i]}_"); done
    (IFS='|'; echo "^(${patterns[*]:-none})")
}

quick_c_tests()
{
    local affected
    affected="$(changed_files | affected_suites)"
    [ "$affected" != '^(none)' ] || { say "no suite of tests/c sees the change"; return 0; }
    c_tests quick -R "$affected"
}

quick()
{
    [ -x "$python" ] || step "set-up" "$root/build/setup.sh" || exit 1
    step "build" build_preset quick || summary
    step "C tests" quick_c_tests
    LIMBER="$out/quick/limber" LIMBER_TESTS=quick step "Python tests" pytest -m quick $(grep -rl --include='test_*.py' 'mark\.quick' tests)
}

# ---- everything else --------------------------------------------------------------------------------------------------------

python_tests()
{
    LIMBER="$out/limber" LIMBER_SANITIZED="$out/sanitize/limber" pytest -n "$(nproc)" --dist loadfile tests
}

usual()
{
    step "set-up" "$root/build/setup.sh" || exit 1
    step "build" build_preset release -DLIMBER_WERROR=ON && step "C tests" c_tests release
    step "build, sanitizers" build_preset sanitize && step "C tests, sanitizers" c_tests sanitize
    step "Python tests" python_tests
}

all()
{
    export LIMBER_TESTS=all
    step "importers" "$root/build/setup.sh" tools
    usual
    step "build, clang" build_preset clang && step "C tests, clang" c_tests clang
    step "C tests, SUNDIALS 7" "$root/build/sundials7.sh"
    step "fuzzing, 60 s for each harness" "$python" tests/fuzz/run.py 60 --quick --timeout 60
}

case "${1-}" in
'' | quick | all) lock_out && "${1:-usual}" ;;
-h | --help) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac
summary
