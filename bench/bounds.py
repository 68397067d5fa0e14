"""The bounds on instructions and operations, and published figures to compare with."""

EXPONENT = 1.1                                   # instructions of the recursion ~ links^p
RATIO = {5: 2.9, 10: 4.5}                        # {elastic coordinates per link: composite / recursive}
MOHAN_SAHA = {"mul": 9874, "add": 7699}          # Mohan and Saha, table 1: 8 links, two modes in each of two planes
JACOBIAN = 12.0                                  # full Jacobian of qdd / forward dynamics, Cibicik's arm
BASELINE = 1.02                                  # instructions of an FMU's functions / those of baseline.COMMIT
SAME = 1e-9                                      # largest relative difference of the results of both
PINOCCHIO = 8975                                 # instructions of its best build (4.1, clang, AVX2), either rigid arm
PINOCCHIO_NS, PINOCCHIO_GHZ = 1200.0, 3.5
STRAIGHT_LINE = {"chain-7": 3399, "twisted-7": 5392}   # instructions of Pinocchio's generated code
NAMES = {"mul": "multiplications", "add": "additions", "div": "divisions", "sqrt": "square roots"}


def check(results):
    """Each bound as {what, value, bound, sense, met}. Bounds are on counts only: times depend on the machine."""
    found = []

    def below(what, value, bound): found.append({"what": what, "value": value, "bound": bound, "sense": "<", "met": value < bound})

    def at_most(what, value, bound): found.append({"what": what, "value": value, "bound": bound, "sense": "<=", "met": value <= bound})

    def at_least(what, value, bound): found.append({"what": what, "value": value, "bound": bound, "sense": ">=", "met": value >= bound})

    for fit in results["exponents"]:
        below(f"growth of instructions with links, {fit['elastic']} elastic coordinates per link, exponent from {fit['from']} to "
              f"{fit['to']} links", fit["forward"], EXPONENT)
    for row in results["rivals"]:
        at_least(f"composite / recursive instructions, {row['elastic']} elastic coordinates per link, {row['build']} build",
                 row["composite"] / row["forward"], RATIO[row["elastic"]])
    for row in results["operations"]:
        if (row["terms"], row["algorithm"]) != ("ruthless", "forward"): continue
        for kind, bound in MOHAN_SAHA.items(): below(f"{NAMES[kind]}, ruthless", row[kind], bound)
    for row in results["jacobian"]:
        if row["robot"] == "cibicik": at_most(f"full Jacobian of qdd / forward dynamics, instructions, cibicik, {row['build']} build", row["derivatives"] / row["forward"], JACOBIAN)
    found.extend(against_baseline(results["baseline"]))
    for row in results["rigid"]:
        below(f"instructions of {row['robot']}", row["instructions"], PINOCCHIO)
    return found


def against_baseline(baseline):
    """The bounds of the comparison with an earlier commit. A bound without a value is missed; its problem says why."""
    def bound(what, value, problem=None):
        return {"what": what, "value": value, "bound": BASELINE, "sense": "<=", "met": value is not None and value <= BASELINE,
                **({"problem": problem} if problem else {})}

    of = f"instructions / those of {baseline['commit']}, FMU build"
    if baseline["problem"]: return [bound(of, None, baseline["problem"])]
    return [bound(f"{of}, {row['algorithm']}, {row['robot']}", row["now"] / row["baseline"]) if row["difference"] <= SAME else
            bound(f"{of}, {row['algorithm']}, {row['robot']}", None, f"invalid: the results differ by {row['difference']:.1e}")
            for row in baseline["rows"]]
