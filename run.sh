#!/usr/bin/env bash
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/build/common.sh"

usage()
{
    cat <<'TEXT'
usage: ./run.sh           set up, build, pack the FMU of the Canadarm, simulate it and plot the result
       ./run.sh dualemps  set up, build, pack the FMU of the DualEMPS, drive it along a circle and a square, and plot the result
       ./run.sh pump      set up, build, pack the FMU of a concrete pump, slew its boom, and plot the result
       ./run.sh boom      set up, build, pack the FMU of that pump with four cylinders inside, move its boom, and plot the result
       ./run.sh crane     set up, build, pack a hydraulic crane with its drives (SSP), lift a load, and plot the result
       ./run.sh servo     set up, build, pack an arm with electric drives (SSP), move a load, and plot the result
       ./run.sh control   set up, build, pack arms and their controllers, move a payload heavier than known, and write docs/control.md
       ./run.sh bench     set up, build, and run the benchmarks
       ./run.sh generated  set up, build, and compare the generated code of 100 random robots with the library
       ./run.sh peers     set up, build, and measure rigid arms against Pinocchio and MuJoCo, side by side
       ./run.sh fuzz [SECONDS]  set up, and fuzz each harness of tests/fuzz for SECONDS of CPU time (default 1800)
       ./run.sh mutants [N]  plant N faults (default 60) in the C code, one at a time, and look which tests find them (hours)
       ./run.sh soak      set up, build, and run an FMU for 1e7 steps, 1e4 times from instantiation to release, and in 64 threads
       ./run.sh importers  set up, build, and run the FMUs in other tools: CasADi, ecos, FMI4j, fmi-sim, libcosim, maestro, containers
       ./run.sh --help    this text

The first run installs missing packages (Debian packages as root or with sudo, Python packages in build/out/venv).
TEXT
}

set_up_and_build()
{
    "$root/build/setup.sh"
    say "building build/out"
    build_preset release || fail "the build failed"
}

example()
{
    local name=$1 text=$2
    [ -x "$out/limber" ] || fail "build/out/limber was not built: are there sources in cli/?"
    say "$text (examples/$name.py)"
    LIMBER="$out/limber" "$python" "examples/$name.py" "$out/run" || fail "the example failed"
}

cd "$root"
[ $# -le 1 ] || { [ $# -eq 2 ] && [[ "$1" = fuzz || "$1" = mutants ]]; } || { usage >&2; exit 2; }
case "${1-}" in
-h | --help) usage; exit 0 ;;
'' | dualemps | pump | boom | crane | servo | control | bench | generated | peers | fuzz | mutants | soak | importers) lock_out ;;
*) usage >&2; exit 2 ;;
esac
case "${1-}" in
'') set_up_and_build && example canadarm "the Canadarm as an FMU, simulated by FMPy" ;;
dualemps) set_up_and_build && example dualemps "the DualEMPS as an FMU with an external controller" ;;
pump) set_up_and_build && example concrete_pump "a concrete pump with a boom of 33 m, slewed" ;;
boom) set_up_and_build && example boom "a concrete pump with four cylinders inside, valve commands every 10 ms" ;;
crane) set_up_and_build && "$root/build/setup.sh" masters && example crane "a hydraulic crane in an SSP package, with drives as FMUs and inside the arm, coupled by several methods and monolithic" ;;
servo) set_up_and_build && "$root/build/setup.sh" masters && example servo "an arm with electric drives in an SSP package, with drives as FMUs and inside the arm, coupled by several methods and monolithic" ;;
control)
    set_up_and_build
    say "arms under controllers with a model inside, with a payload heavier than the model's (examples/control.py)"
    LIMBER="$out/limber" "$python" examples/control.py "$out/run" --write-docs || fail "the example failed"
    ;;
bench)
    set_up_and_build
    [ -f bench/run.py ] || fail "bench/run.py is missing"
    say "bench"
    LIMBER="$out/limber" "$python" bench/run.py
    say "simulated seconds per CPU second, in one step and with inputs that change every millisecond"
    LIMBER="$out/limber" "$python" bench/integration.py inputs
    ;;
generated) set_up_and_build && LIMBER="$out/limber" "$python" tests/oracle/generated_code.py 100 ;;
peers)
    set_up_and_build
    say "Limber, Pinocchio and MuJoCo on the same rigid arms"
    "$python" bench/peers.py --write-docs
    ;;
fuzz) "$root/build/setup.sh" && say "fuzzing; Ctrl-C ends it, and the next run goes on" && "$python" tests/fuzz/run.py "${2:-1800}" ;;
mutants) "$root/build/setup.sh" && say "mutants; Ctrl-C ends it, and the next run continues" && "$python" tests/mutants/run.py "${@:2}" ;;
soak) set_up_and_build && say "soak test" && LIMBER="$out/limber" "$python" bench/soak.py ;;
importers)
    set_up_and_build
    "$root/build/setup.sh" tools
    say "FMUs in other tools (tests/fmu/test_importers.py, test_systems.py)"
    LIMBER="$out/limber" "$python" -m pytest -q tests/fmu/test_importers.py tests/fmu/test_systems.py
    ;;
esac
