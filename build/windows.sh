#!/usr/bin/env bash
# What the FMU's library for Windows needs, in build/out/windows: Debian's mingw-w64, and with it SUNDIALS and json-c from Debian's
# source packages, in the versions that the Linux library has. The build takes it from there. Quick when nothing is missing.
# It is no condition: where it cannot be had FMUs carry the Linux library alone, and the reason stands in
# build/out/windows/libraries.missing. Remove that file to try again.
# windows.sh wine (called by the tests): wine to run it with; likewise, the reason in wine.missing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

windows="$out/windows"
export WINEPREFIX="$windows/wine" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="   # no offers of .NET and a browser

# once NAME: runs NAME once for each answer of NAME_wanted, what its result depends on; NAME.ready or NAME.missing begins with it
once()
{
    local name="$1" log="$windows/$1.log"
    [ "$(head -n 1 "$windows/$name.ready" 2>/dev/null)" != "$("${name}_wanted")" ] || return 0
    [ "$(head -n 1 "$windows/$name.missing" 2>/dev/null)" != "$("${name}_wanted")" ] || return 1
    say "making ready for Windows: $name"
    rm -f "$windows/$name.missing"
    if "$name" >"$log" 2>&1; then "${name}_wanted" >"$windows/$name.ready"
    else
        : >"$windows/$name.ready"
        { "${name}_wanted"; sed '/^ *$/d' "$log" | tail -n 5; } >"$windows/$name.missing"
        return 1
    fi
}

# versions PACKAGE...: on one line; those that are not installed are left out
versions() { { dpkg-query -W -f='${Package}=${Version} ' "$@" 2>/dev/null || true; } | tr -d '\n'; }

# ---- libraries -----------------------------------------------------------------------------------------------------

compiler=gcc-mingw-w64-x86-64-win32
sources="$windows/sources"

libraries_wanted()
{
    echo "$(versions $compiler libsundials-dev libjson-c-dev)" "$(cat "$root/build/windows.sh" "$root/build/windows.cmake" | sha256sum)"
}

libraries() { install_packages $compiler dpkg-dev && get_sources && build_json_c && build_sundials && rm -rf "$sources"; }

# Signed sources from where this machine has its Debian packages, through lists of our own: the system's stay as they are.
get_sources()
{
    rm -rf "$sources" && mkdir -p "$sources/lists/partial" "$sources/cache/archives/partial" || return 1
    local wanted list="$sources/sources.list"
    local apt=(apt-get -q -o Dir::State::Lists="$sources/lists" -o Dir::Cache="$sources/cache" -o APT::Sandbox::User=root)
    source_list apt-get >"$list" || return 1
    # a machine that has cleared its lists
    [ -s "$list" ] || { "${apt[@]}" update; source_list "${apt[@]}" >"$list"; }
    apt+=(-o Dir::Etc::SourceList="$list" -o Dir::Etc::SourceParts=/dev/null)
    wanted="$(dpkg-query -W -f='${source:Package}=${source:Version} ' libsundials-dev libjson-c-dev)" || return 1
    "${apt[@]}" update && (cd "$sources" && "${apt[@]}" source $wanted)
}

# source_list APT-GET...: one line for each place that Debian's packages come from
source_list() { "$@" indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian'; }

# build_library NAME TARGET [cmake options]: static libraries into build/out/windows/lib, headers beside it
build_library()
{
    local name="$1" target="$2" place=("$sources/$1"-*/)
    shift 2
    cmake -S "${place[0]}" -B "$sources/build-$name" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$root/build/windows.cmake" \
          -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$windows" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF "$@" \
        && cmake --build "$sources/build-$name" --target "$target" && cmake --install "$sources/build-$name"
}

# It must not switch the locale of the whole process to read a number: we read it (fmu_src/base/platform.h). The compiler's header
# makes strtod() a call of __mingw_strtod().
build_json_c()
{
    build_library json-c json-c -DBUILD_TESTING=OFF -DDISABLE_EXTRA_LIBS=ON -DHAVE_SETLOCALE=OFF \
        -DCMAKE_C_FLAGS="-D__USE_MINGW_ANSI_STDIO=1 -D__mingw_strtod=platform_read_number"
}

build_sundials()
{
    local off=() part
    for part in ARKODE CVODES IDA IDAS KINSOL; do off+=("-DBUILD_$part=OFF"); done
    build_library sundials all "${off[@]}" -DEXAMPLES_ENABLE_C=OFF -DEXAMPLES_INSTALL=OFF
}

# ---- wine ----------------------------------------------------------------------------------------------------------

wine_wanted() { echo "wine: $(versions wine64)"; }

wine() { install_packages wine64 && rm -rf "$WINEPREFIX" && timeout 300 /usr/lib/wine/wine64 wineboot -i; }

# --------------------------------------------------------------------------------------------------------------------

mkdir -p "$windows"
exec 9>"$windows/lock"
flock 9   # one at a time
case "${1-}" in
'') once libraries || say "no library for Windows: FMUs carry the one for Linux alone; why is in ${windows#"$root"/}/libraries.missing" ;;
wine) once wine 9>&- || true ;;   # its server outlives this script
*) fail "usage: windows.sh [wine]" ;;
esac
