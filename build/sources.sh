# Sourced by the scripts that build libraries from source packages of Debian.

# once PLACE NAME: runs NAME once for each answer of NAME_wanted, what its result depends on. PLACE/NAME.ready or PLACE/NAME.missing
# begins with that answer; the latter goes on with the reason. 1 where it is missing.
once()
{
    local place="$1" name="$2" log="$1/$2.log"
    [ "$(head -n 1 "$place/$name.ready" 2>/dev/null)" != "$("${name}_wanted")" ] || return 0
    [ "$(head -n 1 "$place/$name.missing" 2>/dev/null)" != "$("${name}_wanted")" ] || return 1
    say "making ${place#"$root"/}: $name"
    rm -f "$place/$name.missing"
    if "$name" >"$log" 2>&1; then "${name}_wanted" >"$place/$name.ready"
    else
        : >"$place/$name.ready"
        { "${name}_wanted"; sed '/^ *$/d' "$log" | tail -n 5; } >"$place/$name.missing"
        return 1
    fi
}

# versions PACKAGE...: on one line; those that are not installed are left out
versions() { { dpkg-query -W -f='${Package}=${Version} ' "$@" 2>/dev/null || true; } | tr -d '\n'; }

# debian_sources DIRECTORY SUITE PACKAGE[=VERSION]...: unpacks Debian source packages in an empty DIRECTORY. SUITE: a release of
# Debian; empty: those that this machine has its packages from. Signed sources from where it has them, through lists of our own:
# the system's stay as they are.
debian_sources()
{
    local place="$1" suite="$2" list="$1/sources.list"
    shift 2
    rm -rf "$place" && mkdir -p "$place/lists/partial" "$place/cache/archives/partial" || return 1
    local apt=(apt-get -q -o Dir::State::Lists="$place/lists" -o Dir::Cache="$place/cache" -o APT::Sandbox::User=root)
    source_list "$suite" apt-get >"$list" || return 1
    # a machine that has cleared its lists
    [ -s "$list" ] || { "${apt[@]}" update; source_list "$suite" "${apt[@]}" >"$list"; }
    apt+=(-o Dir::Etc::SourceList="$list" -o Dir::Etc::SourceParts=/dev/null)
    "${apt[@]}" update && (cd "$place" && "${apt[@]}" source "$@")
}

# source_list SUITE APT-GET...: one line for each place that Debian's packages come from
source_list()
{
    local line='deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' filter=('Created-By: Packages' 'Origin: Debian')
    [ -z "$1" ] || { line="deb-src \$(REPO_URI) $1 main"; filter+=('Label: Debian'); }
    shift
    "$@" indextargets --format "$line" "${filter[@]}" | sort -u
}

# cmake_library SOURCE BUILD PREFIX TARGET [cmake options]: static libraries into PREFIX/lib, headers beside it
cmake_library()
{
    local source="$1" build="$2" prefix="$3" target="$4"
    shift 4
    cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
          -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF "$@" \
        && cmake --build "$build" --target "$target" && cmake --install "$build"
}

# sundials_library SOURCE BUILD PREFIX [cmake options]: of SUNDIALS what CVODE needs
sundials_library()
{
    local off=() part place=("$@")
    for part in ARKODE CVODES IDA IDAS KINSOL; do off+=("-DBUILD_$part=OFF"); done
    cmake_library "${place[@]:0:3}" all "${off[@]}" -DEXAMPLES_ENABLE_C=OFF -DEXAMPLES_INSTALL=OFF "${place[@]:3}"
}
