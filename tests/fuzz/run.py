"""Fuzzing: run.py [SECONDS] [--jobs N] [--only NAME ...] [--record] [--quick]

Builds the harnesses of this folder with clang, libFuzzer and the address and undefined-behavior sanitizers, and runs each for
SECONDS of CPU time (default 1800; at least --least executions, default 300000, if the time allows twice as much). What was found
stays in build/out/fuzz/corpus, so that a later run goes on from there; inputs that fail are kept in build/out/fuzz/failures.
Afterwards the lines of the reader, of fmi and of sim that the corpora reach are counted (llvm-cov). --record writes the figures to
tests/fuzz/figures.json, from which docs/reliability.md is made. --quick: only the run, without coverage (test.sh)."""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import bad_robots  # noqa: E402

ROOT = HERE.parent.parent
OUT = ROOT / "build/out/fuzz"
COVERAGE = ROOT / "build/out/fuzz-coverage"
FIGURES = HERE / "figures.json"
HARNESSES = {"robot": 6000, "state": 1000, "csv": 2000, "saved": 400, "calls": 1000, "drive": 1000}  # with the longest input
LAYERS = {"reader": ["fmu_src/robot/", "analysis/csv.c", "analysis/state.c"], "fmi": ["fmu_src/fmi/"], "sim": ["fmu_src/sim/"]}


# ---- building ------------------------------------------------------------------------------------------------------------

def build(folder, *options):
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "build.log", "w") as log:
        for command in (["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_C_COMPILER=clang", "-DLIMBER_FUZZ=ON", *options],
                        ["cmake", "--build", folder, "--target", "fuzzers"]):
            if subprocess.run(list(map(str, command)), stdout=log, stderr=subprocess.STDOUT).returncode != 0:
                log.flush()
                sys.exit("".join((folder / "build.log").read_text().splitlines(keepends=True)[-30:]) + "the build failed")


def dictionary():
    """The words of JSON, and the keys and words of robot files and drives, from the schema and the table of variables."""
    text = (HERE / "json.dict").read_text()
    schema = (ROOT / "resources/limber-robot-3.schema.json").read_text()
    words = set(re.findall(r'"([a-zA-Z][\w/-]{1,30})"', schema))
    for file in (ROOT / "fmu_src/drive").glob("*.c"): words |= set(re.findall(r'\{"([a-z][\w.]{1,30})", ', file.read_text()))
    file = OUT / "words.dict"
    file.write_text(text + "".join(f'"\\"{word}\\""\n' for word in sorted(words)))
    return file


def seeds(name):
    """{name: content} of robot files of the tests and resources; of small files in seeds/; empty for the binary ones, which begin from noise."""
    if name != "robot": return {file.name: file.read_bytes() for file in (HERE / "seeds" / name).glob("*")}
    robots = {f"{case}.json": bad_robots.file_text(bad_robots.CASES[case]).encode() for case in bad_robots.CASES}
    robots |= {file.name: file.read_bytes() for file in [*ROOT.glob("tests/data/good/*.json"), *ROOT.glob("resources/*.json")]}
    return {file: content for file, content in robots.items() if len(content) < HARNESSES["robot"]}


def prepare(name):
    corpus = OUT / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    (OUT / "failures").mkdir(parents=True, exist_ok=True)
    for file, content in seeds(name).items():
        kept = corpus / f"seed-{file}"
        if not kept.exists(): kept.write_bytes(content)
    return corpus


# ---- running -------------------------------------------------------------------------------------------------------------

LOCK = threading.Lock()


def say(text):
    with LOCK: print(text, flush=True)


def cpu_seconds(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def command_of(name, corpus, arguments, words):
    command = [OUT / f"fuzz_{name}", f"-max_len={HARNESSES[name]}", f"-timeout={arguments.timeout}", "-rss_limit_mb=4096",
               f"-artifact_prefix={OUT}/failures/{name}-", "-print_final_stats=1", "-use_value_profile=0", "-detect_leaks=1"]
    if name in ("robot", "state", "drive"): command.append(f"-dict={words}")
    return list(map(str, [*command, corpus]))


def watch(name, process, log, arguments):
    """Ends the run after its CPU time; progress every 30 s. libFuzzer ends well when it is interrupted."""
    shown, cpu = time.monotonic(), 0.0
    while process.poll() is None:
        time.sleep(0.2)
        try: cpu = cpu_seconds(process)
        except (OSError, IndexError): break
        done = re.findall(r"^#(\d+)", log.read_text(errors="replace"), re.M) if time.monotonic() - shown > 30 or cpu > arguments.seconds else []
        executions = int(done[-1]) if done else 0
        if time.monotonic() - shown > 30:
            say(f"{name}: {executions} executions, {cpu:.0f} of {arguments.seconds} CPU s")
            shown = time.monotonic()
        enough = executions >= arguments.least or cpu >= 2 * arguments.seconds or arguments.quick
        if cpu >= arguments.seconds and enough: process.send_signal(2)
    return cpu


def fuzz(name, arguments, words):
    corpus, log = prepare(name), OUT / f"{name}.log"
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
    with open(log, "w") as stream:
        process = subprocess.Popen(command_of(name, corpus, arguments, words), stdout=stream, stderr=subprocess.STDOUT, env=environment)
        cpu = watch(name, process, log, arguments)
        code = process.wait()
    text = log.read_text(errors="replace")
    counts = re.findall(r"number_of_executed_units: (\d+)", text) or re.findall(r"^#(\d+)", text, re.M) or ["0"]
    slowest = re.findall(r"slowest_unit_time_sec: *(\d+)", text)
    failed = "SUMMARY: " in text or code not in (0, 72)
    say(f"{name}: {'FAILED' if failed else 'ok'}, {counts[-1]} executions in {cpu:.0f} CPU s, corpus of {len(list(corpus.iterdir()))}")
    if failed: say("\n".join(text.splitlines()[-40:]))
    return {"name": name, "executions": int(counts[-1]), "cpu_seconds": round(cpu), "failed": failed,
            "corpus": len(list(corpus.iterdir())), "slowest_seconds": int(slowest[-1]) if slowest else 0}


# ---- coverage --------------------------------------------------------------------------------------------------------------

def coverage(names):
    """Lines reached by the corpora, in percent by layer."""
    build(COVERAGE, "-DLIMBER_COVERAGE=ON")
    profiles = []
    for name in names:
        profile = COVERAGE / f"{name}.profraw"
        subprocess.run([COVERAGE / f"fuzz_{name}", "-runs=0", "-timeout=60", OUT / "corpus" / name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**os.environ, "LLVM_PROFILE_FILE": str(profile)})
        if profile.exists(): profiles.append(profile)
    merged = COVERAGE / "all.profdata"
    subprocess.run(["llvm-profdata", "merge", "-o", merged, *profiles], check=True)
    programs = [COVERAGE / f"fuzz_{name}" for name in names]
    command = ["llvm-cov", "export", "-summary-only", f"-instr-profile={merged}", programs[0], *(f"-object={p}" for p in programs[1:])]
    files = json.loads(subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout)["data"][0]["files"]
    shares = {}
    for layer, places in LAYERS.items():
        lines = [f["summary"]["lines"] for f in files if any(place in f["filename"] for place in places)]
        shares[layer] = round(100 * sum(l["covered"] for l in lines) / max(1, sum(l["count"] for l in lines)), 1)
    return shares


# ---- all ---------------------------------------------------------------------------------------------------------------------

def record(results, shares):
    """Adds the runs to the figures: executions and CPU time sum up over runs on one corpus."""
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {"runs": {}, "coverage": {}}
    for result in results:
        old = figures["runs"].get(result["name"], {"executions": 0, "cpu_seconds": 0, "slowest_seconds": 0})
        figures["runs"][result["name"]] = {"executions": old["executions"] + result["executions"],
                                           "cpu_seconds": old["cpu_seconds"] + result["cpu_seconds"],
                                           "slowest_seconds": max(old["slowest_seconds"], result["slowest_seconds"])}
    figures["coverage"] = shares or figures["coverage"]
    FIGURES.write_text(json.dumps(figures, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", nargs="?", type=float, default=1800)
    parser.add_argument("--least", type=int, default=300000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="*", default=list(HARNESSES), choices=list(HARNESSES))
    parser.add_argument("--timeout", type=int, default=5, help="seconds after which an input hangs")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    build(OUT)
    words = dictionary()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda name: fuzz(name, arguments, words), arguments.only))
    shares = {} if arguments.quick else coverage(list(HARNESSES))
    if shares: say("lines reached: " + ", ".join(f"{layer} {share} %" for layer, share in shares.items()))
    if arguments.record: record(results, shares)
    say(f"{sum(r['executions'] for r in results)} executions in {sum(r['cpu_seconds'] for r in results)} CPU s")
    return 1 if any(r["failed"] for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
