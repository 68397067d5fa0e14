#!/usr/bin/env bash
# The C tests with SUNDIALS 7: its static libraries in build/out/sundials7, from the source package of Debian 13, and a build of
# Limber with them in build/out/sundials7/build. It takes about two minutes the first time. If the sources are not available, or this
# machine's own SUNDIALS is already 7, reports it and succeeds; the reason is then in build/out/sundials7/libraries.missing. Remove
# that file to try again. (test.sh calls this.)
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$root/build/sources.sh"

place="$out/sundials7"
suite=trixie

libraries_wanted() { echo "$suite $(cat "$root"/build/{sundials7,sources}.sh | sha256sum)"; }

libraries()
{
    install_packages dpkg-dev && debian_sources "$place/sources" $suite sundials \
        && sundials_library "$place"/sources/sundials-*/ "$place/sources/build" "$place" -DENABLE_MPI=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
        && rm -rf "$place/sources"
}

own="$(dpkg-query -W -f='${Version}' libsundials-dev 2>/dev/null || true)"
[[ "$own" != 7.* ]] || { say "skipped: the SUNDIALS of this machine is already $own"; exit 0; }
lock_out
mkdir -p "$place"
once "$place" libraries || { say "skipped: no SUNDIALS 7: $(tail -n 1 "$place/libraries.missing")"; exit 0; }
build_preset sundials7 || fail "the build with SUNDIALS 7 failed"
c_tests sundials7
