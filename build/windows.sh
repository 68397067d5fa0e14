#!/usr/bin/env bash
# What the FMU's library for Windows needs, in build/out/windows: Debian's mingw-w64, and with it SUNDIALS and json-c from Debian's
# source packages, in the versions that the Linux library has. The build takes it from there. Quick when nothing is missing.
# It is no condition: where it cannot be had FMUs carry the Linux library alone, and the reason stands in
# build/out/windows/libraries.missing. Remove that file to try again.
# windows.sh wine (called by the tests): wine to run it with; likewise, the reason in wine.missing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$root/build/sources.sh"

windows="$out/windows"
export WINEPREFIX="$windows/wine" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="   # no offers of .NET and a browser

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

# It must not switch the locale of the whole process to read a number: we read it (fmu_src/base/platform.h). The compiler's header
# makes strtod() a call of __mingw_strtod().
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

mkdir -p "$windows"
exec 9>"$windows/lock"
flock 9   # one at a time
case "${1-}" in
'') once "$windows" libraries || say "no library for Windows: FMUs carry the one for Linux alone; why is in ${windows#"$root"/}/libraries.missing" ;;
wine) once "$windows" wine 9>&- || true ;;   # its server outlives this script
*) fail "usage: windows.sh [wine]" ;;
esac
