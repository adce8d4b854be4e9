# SPDX-License-Identifier: MIT
"""Tables for terminals and notebooks, and bars where matplotlib is there."""
from __future__ import annotations

import html
from typing import Any, Sequence


def cell(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return str(value)


def text_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The first column to the left, numbers to the right."""
    lines = [list(head)] + [[cell(value) for value in row] for row in rows]
    width = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(
        [line[0].ljust(width[0])]
        + [text.rjust(w) for text, w in zip(line[1:], width[1:])]).rstrip()
        for line in lines)


def html_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """For a notebook; no name becomes markup."""
    def line(tag: str, values: Sequence[object]) -> str:
        return "<tr>" + "".join(
            f'<{tag} style="text-align:{"right" if i else "left"}">'
            f"{html.escape(cell(value))}</{tag}>"
            for i, value in enumerate(values)) + "</tr>"

    return ("<table>" + line("th", head)
            + "".join(line("td", row) for row in rows) + "</table>")


def bars(names: Sequence[str], values: Sequence[float], ax: Any = None,
         errors: Any = None, label: str = "count") -> Any:
    """Bars of unlike sizes on a logarithmic axis; returns the axes."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot() wants matplotlib: "
                          "apt-get install python3-matplotlib") from error
    if ax is None:
        ax = plt.subplots(figsize=(6, 0.5 + 0.4 * len(names)))[1]
    ax.barh(list(names), list(values), xerr=errors)
    ax.invert_yaxis()
    positive = [value for value in values if value > 0]
    if positive and max(positive) > 100 * min(positive):
        ax.set_xscale("log")
    ax.set_xlabel(label)
    return ax
