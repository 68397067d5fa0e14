# Sourced by run.sh, test.sh and the scripts here: paths and build functions.
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
out="$root/build/out"
python="$out/venv/bin/python"

say()  { printf '== %s\n' "$*"; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# lock_out: waits until nothing else writes build/out, and keeps others out until this command and what it started have ended. Commands
# that hold the lock already pass it on to those that they call.
lock_out()
{
    [ "${LIMBER_LOCK-}" != "$out" ] || return 0
    mkdir -p "$out"
    exec 9>>"$out/lock"
    flock -n 9 || { say "waiting: $(tail -n 1 "$out/lock") writes build/out"; flock 9; }
    printf '%s (process %s)\n' "$0" $$ >"$out/lock"
    export LIMBER_LOCK="$out"
}

# build_preset PRESET [cmake options]: a preset of CMakePresets.json; configures if not yet done or if options are given (other options
# are kept), then builds. Compiler output is shown on failure only.
build_preset()
{
    local preset="$1" log="$out/$1.log" directory="$out/$1"
    shift
    case "$preset" in release) directory="$out" ;; sundials7) directory="$out/sundials7/build" ;; esac
    mkdir -p "$out"
    if ! (cd "$root" && { { [ $# -eq 0 ] && [ -f "$directory/build.ninja" ]; } || cmake --preset "$preset" "$@"; } \
            && cmake --build --preset "$preset") >"$log" 2>&1; then
        grep -v '^\[[0-9]*/[0-9]*\] \(Building\|Linking\)' "$log" >&2 || true
        return 1
    fi
}

# c_tests PRESET [ctest options]: runs the C tests of that build; it is a failure if there are none
c_tests()
{
    local log="$out/$1-tests.log"
    (cd "$root" && ctest --preset "$1" --output-on-failure --no-tests=error -j "$(nproc)" --quiet -O "$log" "${@:2}") 2>/dev/null \
        || { grep -v ' Passed ' "$log" | head -n 200; echo "complete output: ${log#"$root"/}"; return 1; }
    grep 'tests passed' "$log"
}

# install_packages PACKAGE...: installs missing Debian packages; returns 1, with the reason on standard error, on failure
install_packages()
{
    command -v dpkg-query >/dev/null || { echo "not a Debian system; provide the equivalents of: $*" >&2; return 1; }
    local missing=() installed
    # dpkg-query fails if it does not know one of them, which is then missing
    installed=" $({ dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' "$@" 2>/dev/null || true; } \
                  | sed -n 's/^ii *//p' | tr '\n' ' ') "
    for package in "$@"; do
        [[ "$installed" == *" $package "* ]] || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0

    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null && sudo -n true 2>/dev/null \
            || { echo "these packages are missing, and installing them needs root: apt-get install ${missing[*]}" >&2; return 1; }
        as_root=(sudo)
    fi
    say "installing ${missing[*]}"
    local log="$out/packages.log"
    mkdir -p "$out"
    { "${as_root[@]}" apt-get update -q \
        && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"; } \
        >"$log" 2>&1 || { tail -n 20 "$log" >&2; echo "could not install ${missing[*]}" >&2; return 1; }
}
