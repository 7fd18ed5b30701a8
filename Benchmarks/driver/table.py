"""The figures as text."""


def text(figures):
    parts = [machine(figures["machine"])]
    if "http" in figures:
        parts.append(http(figures["http"]))
    if "burst" in figures:
        parts.append(burst(figures["burst"]))
    if figures.get("micro"):
        parts.append(micro(figures["micro"]["operations"]))
    if "socket" in figures:
        parts.append(socket(figures["socket"]))
    if figures.get("start"):
        parts.append(start(figures["start"]))
    if "costs" in figures:
        parts += costs(figures["costs"])
    return "\n\n".join(parts) + "\n"


def machine(values):
    return "\n".join([
        f"{values['processor']}, {values['cores']} cores with a load of {values['load']} before, {values['system']}", values["swift"], values["curl"],
        values["nginx"],
    ])


def http(cells):
    """Returns a table with a block for each body and protocol."""
    heading = ["in flight", "peer", "req/s", "CPU us/req", "quartiles", "p50 us", "p99 us", "peak MiB"]
    rows, block = [], None
    for cell in cells:
        if block != (cell["protocol"], cell["body"]):
            block = (cell["protocol"], cell["body"])
            title = cell["body"] if "POST" in cell["body"] else f"GET {cell['body']}"
            rows += [None, f"{title}, {cell['protocol']}", heading]
            in_flight = None
        is_first = in_flight != cell["in_flight"]
        in_flight = cell["in_flight"]
        rows.append([str(in_flight) if is_first else "", cell["peer"], *http_figures(cell)])
    return aligned(rows[1:])


def http_figures(cell):
    median = cell["median"]
    if not median:
        return ["failed"] * 6
    return [
        f"{median['requestsPerSecond']:,.0f}", f"{median['cpuMicroseconds']:,.1f}", spread(cell["cpuQuartiles"]), f"{median['p50Microseconds']:,.0f}",
        f"{median['p99Microseconds']:,.0f}", f"{median['peakKiB'] / 1_024:.1f}",
    ]


def spread(quartiles):
    return " to ".join(f"{value:,.1f}" for value in quartiles)


def burst(cells):
    """Returns a table with a block for each body."""
    heading = ["at once", "peer", "CPU us/call", "quartiles", "wall s", "p50 ms", "p99 ms", "KiB/call"]
    rows, block = [], None
    for cell in cells:
        if block != cell["body"]:
            block = cell["body"]
            rows += [None, f"GET {block}, all calls at once over {cell['burst']} connections", heading]
        median = cell["median"]
        figures = [
            f"{median['cpuMicroseconds']:,.1f}", spread(cell["cpuQuartiles"]), f"{median['seconds']:.2f}",
            f"{median['p50Microseconds'] / 1e3:,.0f}", f"{median['p99Microseconds'] / 1e3:,.0f}",
            f"{median['peakGrowthKiB'] / cell['in_flight']:.1f}",
        ] if median else ["failed"] * 6
        rows.append([f"{cell['in_flight']:,}", cell["peer"], *figures])
    return aligned(rows[1:])


def micro(values):
    rows = ["Without a network, CPU of one operation", ["", "operation", "us", "per CPU second"]]
    rows += [["", name, f"{nanoseconds / 1_000:.2f}", f"{1e9 / nanoseconds:,.0f}"] for name, nanoseconds in values.items()]
    return aligned(rows)


def socket(cells):
    rows = ["WebSockets that echo 1 KB", ["connections", "peer", "messages/s", "CPU us/message", "peak MiB"]]
    for cell in cells:
        median = cell["median"]
        figures = [
            f"{median['messagesPerSecond']:,.0f}", f"{median['cpuMicroseconds']:,.1f}", f"{median['peakKiB'] / 1_024:.1f}",
        ] if median else ["failed"] * 3
        rows.append([str(cell["connections"]), cell["peer"], *figures])
    return aligned(rows)


def start(values):
    rows = ["A process that makes one typed GET", ["", "peer", "ms", "quartiles", "CPU ms", "peak MiB", "stripped KiB"]]
    for peer, one in values.items():
        median = one["median"]
        rows.append([
            "", peer, f"{median['milliseconds']:.1f}", spread(one["quartiles"]), f"{median['cpuMilliseconds']:.1f}",
            f"{median['peakKiB'] / 1_024:.1f}", f"{one['strippedKiB']:,.0f}" if one["strippedKiB"] else "-",
        ])
    return aligned(rows)


def costs(values):
    kinds = list(next(iter(values["builds"].values())))
    builds = ["A clean build, CPU s", ["", "", *kinds]]
    builds += [["", name, *(f"{seconds:.0f}" for seconds in one.values())] for name, one in values["builds"].items()]
    products = ["Added to the core, in release without debug information; sizes include the products it needs", ["", "product", "lines", "CPU s", "stripped KiB"]]
    for name, one in values["products"].items():
        products.append(["", name, f"{one['lines']:,}", f"{one['cpuSeconds']:.1f}", f"{one['strippedKiB']:,.0f}"])
    programs = ["A program with one typed GET, stripped KiB", ["", "", "dynamic", "static"]]
    for name, one in values["programs"].items():
        programs.append(["", name, *(f"{size:,.0f}" if size else "-" for size in (one["dynamicKiB"], one["staticKiB"]))])
    return [aligned(builds), aligned(products), aligned(programs)]


def aligned(rows):
    """Aligns rows of cells: the second column to the left, the others to the right. A row that is a text stays as it is."""
    cells = [row for row in rows if isinstance(row, list)]
    widths = [max(len(row[column]) for row in cells if column < len(row)) for column in range(max(map(len, cells)))]

    def line(row):
        if not isinstance(row, list):
            return row or ""
        padded = [
            cell.ljust(width) if column == 1 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ]
        return "  ".join(padded).rstrip()

    return "\n".join(map(line, rows))
