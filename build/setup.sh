#!/usr/bin/env bash
# Prepares this machine for building and testing: missing Debian packages, and a Python environment in build/out/venv.
# Then the requirements of the FMU library for Windows (windows.sh) and of the page of `limber view` (viewer.sh). Quiet and fast if nothing is missing.
# setup.sh masters (called for the coupled systems): co-simulation masters in build/out/tools.
# setup.sh tools (called by the tests): these and other FMU importers. They are optional: if one cannot be installed, the
# reason is in build/out/tools/NAME.missing, and its tests are skipped with that reason. Remove the file to try again.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

packages=(
    cmake ninja-build gcc clang libc6-dev binutils pkg-config git   # building
    libjson-c-dev libsundials-dev libzip-dev libpng-dev zlib1g-dev liblapacke-dev liblapack-dev
    clang-format valgrind python3 python3-venv                # checking
    libclang-rt-dev llvm                                      # fuzzing, and its coverage
    librsvg2-bin fonts-dejavu-core                            # limber picture -o FILE.png
    rsync                                                     # ./run.sh mutants
)

make_python()
{
    local stamp="$out/venv/requirements.sha256" log="$out/python.log" wanted
    wanted="$(sha256sum <"$root/build/requirements.txt")"
    if [ -x "$python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then return 0; fi
    say "creating the Python environment build/out/venv"
    mkdir -p "$out"
    rm -rf "$out/venv"
    { python3 -m venv "$out/venv" \
        && "$python" -m pip install --disable-pip-version-check --require-hashes -r "$root/build/requirements.txt"; } \
        >"$log" 2>&1 || { tail -n 20 "$log" >&2; fail "could not create the Python environment (build/requirements.txt)"; }
    printf '%s\n' "$wanted" >"$stamp"
}

tools="$out/tools"

# tool NAME WANTED COMMAND...: runs the command once for each WANTED (everything that determines its result)
tool()
{
    local name="$1" wanted="$2" log="$tools/$1.log"
    shift 2
    if [ "$(cat "$tools/$name.stamp" 2>/dev/null)" = "$wanted" ] || [ "$(head -n 1 "$tools/$name.missing" 2>/dev/null)" = "$wanted" ]
    then return 0; fi
    say "installing the importer $name"
    rm -f "$tools/$name.stamp" "$tools/$name.missing"
    if "$@" >"$log" 2>&1; then printf '%s\n' "$wanted" >"$tools/$name.stamp"
    else { printf '%s\n' "$wanted"; sed '/^ *$/d' "$log" | tail -n 5; } >"$tools/$name.missing"
    fi
}

within() # within SECONDS COMMAND...
{
    local status=0
    timeout "$@" || status=$?
    [ $status -ne 124 ] || echo "timed out after $1 s"
    return $status
}

tools_python()
{
    rm -rf "$tools/venv"
    python3 -m venv "$tools/venv" \
        && within 900 "$tools/venv/bin/python" -m pip install --disable-pip-version-check --require-hashes \
            -r "$root/build/requirements-tools.txt"
}

fmi_sim=0.7.0

tools_fmi_sim()
{
    command -v cargo >/dev/null || { echo "cargo is not on the PATH"; return 1; }
    install_packages libclang-dev || return 1   # needed to generate its bindings to the FMI headers
    CARGO_PROFILE_DEV_DEBUG=0 within 1500 cargo install fmi-sim --version "$fmi_sim" --locked --force --debug \
        --root "$tools/fmi-sim" --target-dir "$tools/fmi-sim/target" || return 1   # not optimized: builds in half the time
    rm -rf "$tools/fmi-sim/target"
}

fmi4j=0.38.0 maestro=3.1.1

tools_java() # tools_java FOLDER GROUP:ARTIFACT:VERSION[:jar:CLASSIFIER]: the jar and what it needs, from Maven Central
{
    local folder="$tools/$1" artifact="$2" pom="$tools/$1/pom.xml" group name version packaging classifier
    command -v java >/dev/null && command -v javac >/dev/null || install_packages openjdk-17-jdk-headless || return 1
    command -v mvn >/dev/null || install_packages maven || return 1
    rm -rf "$folder"
    mkdir -p "$folder"
    IFS=: read -r group name version packaging classifier <<<"$artifact"
    cat >"$pom" <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>limber</groupId><artifactId>tools</artifactId><version>1</version><dependencies><dependency>
<groupId>$group</groupId><artifactId>$name</artifactId><version>$version</version>
${classifier:+<type>$packaging</type><classifier>$classifier</classifier><exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>}
</dependency></dependencies></project>
XML
    within 600 mvn -q -B -f "$pom" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
        "-Dmaven.repo.local=$tools/maven" "-DoutputDirectory=$folder" \
        && check_jars "$1"
}

# Every jar of the folder is in build/jars.sha256, and has that checksum
check_jars()
{
    local jar wanted
    for jar in "$tools/$1"/*.jar; do
        wanted="$(grep -F "  $1/$(basename "$jar")" "$root/build/jars.sha256")" || { echo "build/jars.sha256 has no checksum of $1/$(basename "$jar")"; return 1; }
        (cd "$tools" && echo "$wanted" | sha256sum --check --quiet) || return 1
    done
}

case "${1-}" in '' | masters | tools) lock_out ;; esac
case "${1-}" in
'')
    install_packages "${packages[@]}" || fail "the set-up failed"
    make_python
    "$root/build/windows.sh"
    "$root/build/viewer.sh"
    ;;
masters | tools)
    mkdir -p "$tools"
    exec 8>"$tools/lock"
    flock 8   # one at a time: tests call this in parallel
    tool python "$(sha256sum <"$root/build/requirements-tools.txt")" tools_python
    [ "$1" = tools ] || exit 0
    tool fmi4j "$fmi4j" tools_java fmi4j "info.laht.fmi4j:fmi-import:$fmi4j"
    tool maestro "$maestro" tools_java maestro "org.into-cps.maestro:maestro:$maestro:jar:jar-with-dependencies"
    tool fmi-sim "$fmi_sim" tools_fmi_sim
    ;;
*) fail "usage: setup.sh [masters|tools]" ;;
esac
