# Sourced by run.sh, test.sh and the scripts here: where things are, how they are built.
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
out="$root/build/out"
python="$out/venv/bin/python"

say()  { printf '== %s\n' "$*"; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# build_in DIRECTORY [cmake options]: configures where that was not yet done or options are given (others stay as they are), then
# builds; shows the compiler's words only when something is wrong
build_in()
{
    local directory="$1" log
    shift
    mkdir -p "$directory"
    log="$directory/build.log"
    if ! { { { [ $# -eq 0 ] && [ -f "$directory/build.ninja" ]; } || cmake -S "$root" -B "$directory" -G Ninja "$@"; } \
            && cmake --build "$directory"; } >"$log" 2>&1; then
        grep -v '^\[[0-9]*/[0-9]*\] \(Building\|Linking\)' "$log" >&2 || true
        return 1
    fi
}

# c_tests DIRECTORY: runs the C tests that were built there; none is a failure: that would prove nothing
c_tests()
{
    ctest --test-dir "$1" --output-on-failure --no-tests=error -j "$(nproc)" --quiet -O "$1/tests.log" \
        2>/dev/null || { grep -v ' Passed ' "$1/tests.log" | head -n 200; echo "all of it: ${1#"$root"/}/tests.log"; return 1; }
    grep 'tests passed' "$1/tests.log"
}

# install_packages PACKAGE...: Debian packages that are missing; 1, with the reason on standard error, where that fails
install_packages()
{
    command -v dpkg-query >/dev/null || { echo "not a Debian system; provide the equivalents of: $*" >&2; return 1; }
    local missing=() installed
    # dpkg-query fails when it does not know one of them: that one is missing
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
