"""Figures of the same round: their ratios, and their spread over all rounds."""

import statistics


def quartiles(values):
    """Returns the lower and the upper quartile."""
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def ratios(one, other, figure):
    """Returns the ratio of two cells in each round, because a disturbance of a round affects both. Empty without runs."""
    others = {run["round"]: run[figure] for run in (other or {}).get("runs", [])}
    return [run[figure] / others[run["round"]] for run in (one or {}).get("runs", []) if run["round"] in others]
