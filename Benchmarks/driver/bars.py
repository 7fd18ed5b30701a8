"""The bars: each a figure, what is wanted of it, and whether that is met."""

import statistics

import http_cells


def judge(figures, failures):
    """The bars that these figures can answer, each with its line. One that has no figure goes to the failures."""
    groups = []
    if "http" in figures:
        groups.append(typed_get(figures["http"]))
    if "micro" in figures:
        groups.append(micro(figures["micro"]))
    if "transfer" in figures:
        groups.append(transfer(figures["transfer"]))
    if figures.get("releaseBuildSeconds"):
        groups.append([bar("release-build", figures["releaseBuildSeconds"], " s", at_most=20)])
    bars = []
    for one in (one for group in groups for one in group):
        if one["figure"] is None:
            failures.add("bar", one["name"], "no figure")
        else:
            bars.append(one)
    return bars


def typed_get(cells):
    """Ratios and differences within each round, then their median: what disturbs a round disturbs both sides."""
    groups = {}
    for cell in cells:
        if (cell["protocol"], cell["body"], cell["in_flight"]) in http_cells.BAR_GROUPS:
            runs = {run["round"]: run for run in cell["runs"]}
            groups.setdefault(cell["in_flight"], {})[cell["peer"]] = runs

    def paired(in_flight, one, others, combine, name):
        runs = groups.get(in_flight, {})
        peers = [runs.get(peer, {}) for peer in [one, *others]]
        values = [
            combine(*(run[number][name] for run in peers)) for number in peers[0]
            if all(number in run for run in peers)
        ]
        return statistics.median(values) if values else None

    def ratio(one, *others):
        return one / others[0]

    def ratio_to_least(one, *others):
        return one / min(others)

    def ratio_to_most(one, *others):
        return one / max(others)

    def difference(one, other):
        return one - other

    cpu, rate = "cpuMicroseconds", "requestsPerSecond"
    on_executors = ("router+executor", ["ahc", "ahc+executor"])  # against the better of the two
    return [
        bar("typed-get-cpu-vs-ahc", paired(16, "router", ["ahc"], ratio, cpu), "x", at_most=0.5),
        bar("typed-get-cpu-vs-ahc-one-in-flight", paired(1, "router", ["ahc"], ratio, cpu), "x", at_most=0.5),
        bar("typed-get-cpu-vs-ahc-on-executors", paired(16, *on_executors, ratio_to_least, cpu), "x", at_most=0.5),
        bar("typed-get-cpu-vs-urlsession", paired(16, "router", ["urlsession"], ratio, cpu), "x", at_most=0.2),
        bar("typed-get-rate-vs-ahc", paired(16, "router", ["ahc"], ratio, rate), "x", at_least=2),
        bar("typed-get-rate-vs-ahc-on-executors", paired(16, *on_executors, ratio_to_most, rate), "x", at_least=2),
        bar("libcurl-alone-cpu-vs-ahc", paired(16, "libcurl", ["ahc"], ratio, cpu), "x", at_most=0.5),
        bar("libcurl-alone-rate-vs-ahc", paired(16, "libcurl", ["ahc"], ratio, rate), "x", at_least=2),
        bar("router-over-curl", paired(16, "router", ["curl"], difference, cpu), " us", at_most=10),
        bar("router-over-curl-on-executor", paired(16, "router+executor", ["curl+executor"], difference, cpu), " us", at_most=10),
    ]


def micro(figures):
    def microseconds(name, less=None):
        if not figures:
            return None
        return (figures[name] - (figures[less] if less else 0)) / 1_000

    return [
        bar("router-over-no-op", microseconds("chain.router-and-five", less="chain.session"), " us", at_most=10),
        bar("endpoint-to-request", microseconds("request.switchboard"), " us", at_most=3),
    ]


def transfer(results):
    bars = []
    for kind, result in results.items():
        mebibytes = result["session"]["peakKiB"] / 1_024 if result else None
        bars.append(bar(f"{kind}-peak-rss", mebibytes, " MiB", at_most=64))
        bars.append(bar(f"{kind}-vs-curl", result["ratio"] if result else None, "x", at_least=0.9))
    return bars


def bar(name, figure, unit, at_most=None, at_least=None):
    wanted = f"<= {at_most}{unit}" if at_least is None else f">= {at_least}{unit}"
    if figure is None:
        return {"name": name, "figure": None}
    is_met = figure <= at_most if at_least is None else figure >= at_least
    digits = 2 if unit in ("x", " us") else 1
    line = f"bar {name}: {figure:.{digits}f}{unit}, wanted {wanted}, {'met' if is_met else 'missed'}"
    return {"name": name, "figure": figure, "unit": unit.strip(), "wanted": wanted, "met": is_met, "line": line}
