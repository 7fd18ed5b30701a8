"""The bars: a figure, its limit, and whether the figure meets the limit."""

import statistics

import http_cells


def judge(figures, failures):
    """Returns the bars of these figures, each with its line. Bars without a figure are added to the failures."""
    groups = []
    if "http" in figures:
        groups.append(typed_get(figures["http"]))
    if "micro" in figures:
        groups.append(micro(figures["micro"]))
    if "socket" in figures:
        groups.append(socket(figures["socket"]))
    bars = []
    for one in (one for group in groups for one in group):
        if one["figure"] is None:
            failures.add("bar", one["name"], "no figure")
        else:
            bars.append(one)
    return bars


def typed_get(cells):
    """Returns medians of the ratios within each round, because a disturbance in a round affects both sides."""
    runs = {peer: by_round(cell) for peer, cell in http_cells.of_bars(cells).items()}

    def ratio(one, other, figure):
        return median_ratio(runs.get(one, {}), runs.get(other, {}), figure)

    cpu, rate = "cpuMicroseconds", "requestsPerSecond"
    return [
        bar("typed-get-cpu-vs-ahc", ratio("router+decode", "ahc+decode", cpu), "x", at_most=0.45),
        bar("typed-get-cpu-vs-urlsession", ratio("router+decode", "urlsession+decode", cpu), "x", at_most=0.25),
        bar("typed-get-rate-vs-ahc", ratio("router+decode", "ahc+decode", rate), "x", at_least=2),
        bar("curl-session-vs-libcurl", ratio("curl", "libcurl", cpu), "x", at_most=1.4),
    ]


def by_round(cell):
    return {run["round"]: run for run in cell["runs"]}


def median_ratio(one, other, figure):
    both = one.keys() & other.keys()
    return statistics.median(one[number][figure] / other[number][figure] for number in both) if both else None


def socket(cells):
    runs = {(cell["connections"], cell["peer"]): by_round(cell) for cell in cells}

    def ratio(count, one, other):
        return median_ratio(runs[count, one], runs[count, other], "cpuMicroseconds")

    return [
        bar(f"socket-{count}{kind}-cpu-vs-nio", ratio(count, "router" + kind, "nio" + kind), "x", at_most=0.7)
        for count in sorted({count for count, _ in runs}) for kind in ["", "+executor"]
    ]


def micro(figures):
    """The limits are 6 us and 10 us on the machine where `request.urlcomponents` takes 4.5 us."""

    def ratio(one, other):
        return figures[one] / figures[other] if figures else None

    return [
        bar("router-and-five-vs-urlcomponents", ratio("chain.router-and-five", "request.urlcomponents"), "x", at_most=1.33),
        bar("cache-memory-vs-urlcomponents", ratio("cache.memory", "request.urlcomponents"), "x", at_most=2.22),
        bar("cache-disk-vs-file", ratio("cache.disk", "cache.file"), "x", at_most=2),
    ]


def bar(name, figure, unit, at_most=None, at_least=None):
    wanted = f"<= {at_most}{unit}" if at_least is None else f">= {at_least}{unit}"
    if figure is None:
        return {"name": name, "figure": None}
    is_met = figure <= at_most if at_least is None else figure >= at_least
    digits = 2 if unit == "x" else 1
    line = f"bar {name}: {figure:.{digits}f}{unit}, wanted {wanted}, {'met' if is_met else 'missed'}"
    return {"name": name, "figure": figure, "unit": unit.strip(), "wanted": wanted, "met": is_met, "line": line}
