#!/bin/sh
# rename.sh IN OUT [LIST...]: OUT is the object file or archive IN with other names of symbols; a line of a LIST is "old new". With PREFIX=,
# this is put before every symbol that IN or the archive OWNER defines. (CMakeLists.txt calls this, with NM and OBJCOPY.)
set -eu
in="$1" out="$2"
shift 2

{
    [ -z "${PREFIX-}" ] || ${NM:-nm} -g -P --defined-only "$in" ${OWNER:+"$OWNER"} | awk -v prefix="$PREFIX" 'NF > 1 { print $1, prefix $1 }'
    [ $# -eq 0 ] || grep -hv '^#' "$@"
} | sort -u >"$out.symbols"
# objects for Windows also name what they export: only the exported functions themselves may
${OBJCOPY:-objcopy} --redefine-syms="$out.symbols" --remove-section=.drectve "$in" "$out"
