"""The bars: a median, its limit, and whether it meets the limit. Ratios are of the same round, so noise affects both sides."""

import statistics

import http_cells
from rounds import quartiles, ratios


def judge(figures):
    """Returns the bars of these figures, each with its line. A bar is left out without its cells."""
    bars = []
    if "http" in figures:
        bars += typed_get(figures["http"]) + floor(figures["http"])
    if figures.get("micro"):
        bars += micro(figures["micro"]["runs"])
    if "socket" in figures:
        bars += socket(figures["socket"])
    if "burst" in figures:
        bars += burst(figures["burst"])
    if "start" in figures:
        start = figures["start"]
        milliseconds = ratios(start.get("router+decode"), start.get("ahc+decode"), "milliseconds")
        bars.append(bar("start-vs-ahc", milliseconds, at_most=0.83))
    return [one for one in bars if one]


def typed_get(cells):
    cells = http_cells.by_peer(cells, http_cells.BAR_GROUP)

    def against(peer, figure):
        return ratios(cells.get("router+decode"), cells.get(peer), figure)

    return [
        bar("typed-get-cpu-vs-ahc", against("ahc+decode", "cpuMicroseconds"), at_most=0.45),
        bar("typed-get-cpu-vs-urlsession", against("urlsession+decode", "cpuMicroseconds"), at_most=0.25),
        bar("typed-get-rate-vs-ahc", against("ahc+decode", "requestsPerSecond"), at_least=2),
    ]


def floor(cells):
    bars = []
    for group in http_cells.FLOOR_GROUPS:
        peers, name = http_cells.by_peer(cells, group), group[1].lower().replace(" ", "-")
        for title, one, other, limit in [
            ("typed-call-vs-floor", "router+decode", "libcurl+decode", {"12 KB": 1.45, "91 bytes": 1.8}.get(group[1])),
            ("curl-session-vs-libcurl", "curl", "libcurl", 1.25),
        ]:
            bars.append(bar(f"{title}-{name}", ratios(peers.get(one), peers.get(other), "cpuMicroseconds"), at_most=limit))
    return bars


def socket(cells):
    peers = {(cell["connections"], cell["peer"]): cell for cell in cells}
    return [
        bar(
            f"socket-{count}{kind}-cpu-vs-nio",
            ratios(peers[count, "router" + kind], peers[count, "nio" + kind], "cpuMicroseconds"), at_most=0.7)
        for count in sorted({count for count, _ in peers}) for kind in ["", "+executor"]
    ]


def burst(cells):
    peers = {(cell["body"], cell["in_flight"], cell["peer"]): cell for cell in cells}
    few, many, ahc = (peers.get(("12 KB", *which)) for which in [(1_000, "router"), (10_000, "router"), (10_000, "ahc")])
    bars = [bar("burst-10000-cpu-vs-1000", ratios(many, few, "cpuMicroseconds"), at_most=1.1)]
    for name, figure in {"cpu": "cpuMicroseconds", "time": "seconds", "p99": "p99Microseconds"}.items():
        bars.append(bar(f"burst-10000-{name}-vs-ahc", ratios(many, ahc, figure), at_most=1))
    memory = [run["peakGrowthKiB"] / run["requests"] for run in (many or {}).get("runs", [])]
    return [*bars, bar("burst-10000-memory-per-call", memory, " KiB", at_most=8)]


def micro(runs):
    """The limits are 6 us and 10 us on the machine where `request.urlcomponents` takes 4.5 us."""

    def ratio(one, other):
        return [run[one] / run[other] for run in runs]

    return [
        bar("router-and-five-vs-urlcomponents", ratio("chain.router-and-five", "request.urlcomponents"), at_most=1.33),
        bar("cache-memory-vs-urlcomponents", ratio("cache.memory", "request.urlcomponents"), at_most=2.22),
        bar("cache-disk-vs-file", ratio("cache.disk", "cache.file"), at_most=2),
    ]


def bar(name, values, unit="x", at_most=None, at_least=None):
    """Returns the bar for the median of one value per round, or None without values. A bar without a limit is never missed."""
    if not values:
        return None
    figure, (low, high) = statistics.median(values), quartiles(values)
    spread = f"({low:.2f} to {high:.2f} in {len(values)} rounds)"
    line = f"bar {name}: {figure:.2f}{unit} {spread}"
    is_met = (at_most is None or figure <= at_most) and (at_least is None or figure >= at_least)
    if at_most is None and at_least is None:
        return {"name": name, "figure": figure, "quartiles": [low, high], "met": True, "line": line}
    wanted = f"<= {at_most}{unit}" if at_least is None else f">= {at_least}{unit}"
    is_close = low <= at_most if at_least is None else high >= at_least
    result = "met" if is_met else "missed within the spread" if is_close else "missed"
    return {
        "name": name, "figure": figure, "quartiles": [low, high], "wanted": wanted, "met": is_met,
        "line": f"{line}, wanted {wanted}, {result}",
    }
