#!/usr/bin/env bash
# Requirements of the page of `limber view`, in build/out/viewer: three.js and esbuild from npm as view/page/package-lock.json has them,
# Debian's clang and C library for WebAssembly, and json-c built with them from Debian's source package. The build uses them from there.
# Fast if nothing is missing. They are optional: without them there is no viewer.js, `limber view` reports that, and the reason is in
# build/out/viewer/libraries.missing. Remove that file to try again.
# viewer.sh browser (called by the tests): Chromium; also optional, with the reason in browser.missing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$root/build/sources.sh"

viewer="$out/viewer"
sources="$viewer/sources"
compiler=(clang-14 lld-14 llvm-14 wasi-libc libclang-rt-14-dev-wasm32)

# ---- libraries -----------------------------------------------------------------------------------------------------

libraries_wanted()
{
    echo "$(versions "${compiler[@]}" libjson-c-dev)" \
         "$(cat "$root"/build/{viewer,sources}.sh "$root/build/wasm.cmake" "$root"/view/page/package*.json | sha256sum)"
}

libraries() { install_packages "${compiler[@]}" dpkg-dev gzip && get_modules && build_json_c && rm -rf "$sources"; }

# What package-lock.json has, with its checksums, and no scripts of packages; esbuild then starts its program through node
get_modules()
{
    command -v npm >/dev/null || install_packages nodejs npm || return 1
    cp "$root"/view/page/package*.json "$viewer/" && (cd "$viewer" && timeout 600 npm ci --ignore-scripts --no-audit --no-fund)
}

# What its build does not look for on this system is said here
build_json_c()
{
    local wanted
    wanted="$(dpkg-query -W -f='${source:Package}=${source:Version} ' libjson-c-dev)" || return 1
    debian_sources "$sources" "" $wanted \
        && cmake_library "$sources"/json-c-*/ "$sources/build-json-c" "$viewer" json-c \
            -DCMAKE_TOOLCHAIN_FILE="$root/build/wasm.cmake" -DBUILD_TESTING=OFF -DBUILD_APPS=OFF -DDISABLE_EXTRA_LIBS=ON \
            -DDISABLE_WERROR=ON -DHAVE_{SNPRINTF,DECL_INFINITY,DECL_ISINF,DECL_ISNAN,DECL_NAN}=1
}

# ---- browser -------------------------------------------------------------------------------------------------------

browser_wanted() { echo "chromium: $(versions chromium)"; }

browser() { install_packages chromium; }

# --------------------------------------------------------------------------------------------------------------------

case "${1-}" in '' | browser) lock_out ;; esac
mkdir -p "$viewer"
exec 8>"$viewer/lock"
flock 8   # one at a time: tests call this in parallel
case "${1-}" in
'') once "$viewer" libraries || say "no page for limber view; the reason is in ${viewer#"$root"/}/libraries.missing" ;;
browser) once "$viewer" browser || true ;;
*) fail "usage: viewer.sh [browser]" ;;
esac
