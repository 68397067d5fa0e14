#!/usr/bin/env bash
# Requirements of the FMU library for Windows, in build/out/windows: Debian's mingw-w64, and SUNDIALS and json-c built with it from
# Debian's source packages, in the versions of the Linux library. The build uses them from there. Fast if nothing is missing.
# They are optional: without them FMUs contain only the Linux library, and the reason is in
# build/out/windows/libraries.missing. Remove that file to try again.
# windows.sh wine (called by the tests): wine to run it; also optional, with the reason in wine.missing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$root/build/sources.sh"

windows="$out/windows"
export WINEPREFIX="$windows/wine" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="   # do not offer to install .NET and a browser

# ---- libraries -----------------------------------------------------------------------------------------------------

compiler=gcc-mingw-w64-x86-64-win32
sources="$windows/sources"

libraries_wanted()
{
    echo "$(versions $compiler libsundials-dev libjson-c-dev)" "$(cat "$root"/build/{windows,sources}.sh "$root/build/windows.cmake" | sha256sum)"
}

libraries() { install_packages $compiler dpkg-dev && get_sources && build_json_c && build_sundials && rm -rf "$sources"; }

get_sources()
{
    local wanted
    wanted="$(dpkg-query -W -f='${source:Package}=${source:Version} ' libsundials-dev libjson-c-dev)" || return 1
    debian_sources "$sources" "" $wanted
}

toolchain="-DCMAKE_TOOLCHAIN_FILE=$root/build/windows.cmake"

# It must not switch the locale of the whole process to read a number: fmu_src/base/platform.h reads it. The compiler's header
# maps strtod() to __mingw_strtod().
build_json_c()
{
    cmake_library "$sources"/json-c-*/ "$sources/build-json-c" "$windows" json-c "$toolchain" \
        -DBUILD_TESTING=OFF -DDISABLE_EXTRA_LIBS=ON -DHAVE_SETLOCALE=OFF \
        -DCMAKE_C_FLAGS="-D__USE_MINGW_ANSI_STDIO=1 -D__mingw_strtod=platform_read_number"
}

build_sundials() { sundials_library "$sources"/sundials-*/ "$sources/build-sundials" "$windows" "$toolchain"; }

# ---- wine ----------------------------------------------------------------------------------------------------------

wine_wanted() { echo "wine: $(versions wine64)"; }

wine() { install_packages wine64 && rm -rf "$WINEPREFIX" && timeout 300 /usr/lib/wine/wine64 wineboot -i; }

# --------------------------------------------------------------------------------------------------------------------

case "${1-}" in '' | wine) lock_out ;; esac
mkdir -p "$windows"
exec 8>"$windows/lock"
flock 8   # one at a time: tests call this in parallel
case "${1-}" in
'') once "$windows" libraries || say "no library for Windows: FMUs contain only the one for Linux; the reason is in ${windows#"$root"/}/libraries.missing" ;;
wine) once "$windows" wine 8>&- 9>&- || true ;;   # its server outlives this script
*) fail "usage: windows.sh [wine]" ;;
esac
