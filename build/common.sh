# Sourced by run.sh, test.sh and the scripts here: where things are, how they are built.
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
out="$root/build/out"
python="$out/venv/bin/python"

say()  { printf '== %s\n' "$*"; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# build_in DIRECTORY [cmake options]: configures once, then builds; shows the compiler's words only when something is wrong
build_in()
{
    local directory="$1" log
    shift
    mkdir -p "$directory"
    log="$directory/build.log"
    if ! { { [ -f "$directory/build.ninja" ] || cmake -S "$root" -B "$directory" -G Ninja "$@"; } \
            && cmake --build "$directory"; } >"$log" 2>&1; then
        grep -v '^\[[0-9]*/[0-9]*\] \(Building\|Linking\)' "$log" >&2 || true
        return 1
    fi
}
