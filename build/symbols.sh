#!/bin/sh
# symbols.sh PREFIX IN OUT [ARCHIVE]: OUT is the object file or archive IN with PREFIX before every symbol that IN or ARCHIVE defines, so
# that an FMU library can hold the same code for several instruction sets. (CMakeLists.txt calls this, with NM and OBJCOPY.)
set -eu
prefix="$1" in="$2" out="$3" archive="${4-}"

${NM:-nm} -g -P --defined-only "$in" ${archive:+"$archive"} | awk -v prefix="$prefix" 'NF > 1 { print $1, prefix $1 }' | sort -u >"$out.symbols"
# objects for Windows also name what they export: only the exported functions themselves may
${OBJCOPY:-objcopy} --redefine-syms="$out.symbols" --remove-section=.drectve "$in" "$out"
