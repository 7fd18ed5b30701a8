"""Draws the typed GET at 16 in flight as an SVG that is legible on light and dark pages.

python3 plot.py FIGURES.json FILE.svg draws the figures that `Benchmarks/run --json` wrote.
"""

import json
import pathlib
import sys

import http_cells

NAMES = {"router+decode": "Switchboard", "ahc+decode": "async-http-client", "urlsession+decode": "URLSession"}
# The lower bound, which needs simdjson.
FLOOR = {"libcurl+decode": "lower bound in C++"}
PANELS = [
    ("CPU per call in microseconds: less is better", "cpuMicroseconds"),
    ("calls per second: more is better", "requestsPerSecond"),
]
WIDTH, BAR, GAP, LEFT, RIGHT = 720, 22, 8, 150, 70
OURS, OTHERS = "#2f81f7", "#8b949e"


def write(figures, path):
    """Writes the plot if the figures include all three clients."""
    cells = http_cells.by_peer(figures.get("http", []), http_cells.BAR_GROUP)
    medians = {name: cells[peer]["median"] for peer, name in (NAMES | FLOOR).items() if peer in cells and cells[peer]["median"]}
    if medians.keys() >= set(NAMES.values()):
        pathlib.Path(path).write_text(svg(medians, figures["machine"]))


def svg(medians, machine):
    parts, y = [text(0, 16, "GET of 12 KB of JSON decoded into structs, 16 in flight", weight="bold")], 30
    for title, figure in PANELS:
        y += 18
        parts.append(text(0, y, title))
        y += 10
        most = max(median[figure] for median in medians.values())
        for name, median in medians.items():
            width = (WIDTH - LEFT - RIGHT) * median[figure] / most
            color = OURS if name == "Switchboard" else OTHERS
            parts.append(text(LEFT - 10, y + 16, name, anchor="end"))
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" rx="2" fill="{color}"/>')
            parts.append(text(LEFT + width + 8, y + 16, f"{median[figure]:,.0f}"))
            y += BAR + GAP
        y += 10
    for note in [
        "async-http-client and URLSession decode with JSONDecoder. The lower bound is a C++ loop over libcurl and simdjson.",
        f"{machine['processor']}, {machine['cores']} cores with a load of {machine['load']} before, {machine['swift']}; nginx on loopback",
    ]:
        y += 14
        parts.append(text(0, y, note, size=11))
    height = y + 6
    # This grey has enough contrast on white and on black, for viewers that report no color scheme.
    style = "text{font-family:system-ui,sans-serif;fill:#6e7781}@media(prefers-color-scheme:dark){text{fill:#9198a1}}"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
        f"<title>{', '.join(described(name, median) for name, median in medians.items())}</title>",
        f"<style>{style}</style>", *parts, "</svg>",
    ]) + "\n"


def described(name, median):
    return f"{name}: {median['cpuMicroseconds']:,.0f} microseconds of CPU per call, {median['requestsPerSecond']:,.0f} calls per second"


def text(x, y, words, anchor="start", weight="normal", size=13):
    words = words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}">{words}</text>'


if __name__ == "__main__":
    write(json.loads(pathlib.Path(sys.argv[1]).read_text()), sys.argv[2])
