"""The planner's own dark and light themes: blue and orange, safe for colour-blind eyes (Okabe and Ito, 2008)."""

from __future__ import annotations

from textual.theme import Theme

# Okabe, M. and Ito, K., "Color Universal Design", 2008: blue 0072B2, sky 56B4E9, orange E69F00, vermilion D55E00,
# bluish green 009E73, reddish purple CC79A7. Lightened or darkened here only where the background needs contrast.
PATH_VARIABLES_DARK = {
    "path-api": "#56B4E9",
    "path-managed": "#D98CB8",
    "path-rented": "#2BC79A",
    "path-owned": "#F0A830",
    "path-mixed": "#D8DEE9",
    "yes": "#56B4E9",
    "no": "#F0803C",
    "maybe": "#E6C229",
    "muted": "#9AA5B1",
}
PATH_VARIABLES_LIGHT = {
    "path-api": "#005F99",
    "path-managed": "#93416F",
    "path-rented": "#006B4F",
    "path-owned": "#9A5200",
    "path-mixed": "#333B45",
    "yes": "#005F99",
    "no": "#A84300",
    "maybe": "#7A5B00",
    "muted": "#56616D",
}

DARK = Theme(
    name="planner-dark",
    primary="#56B4E9",
    secondary="#2B7FB8",
    accent="#F0A830",
    warning="#E6C229",
    error="#F0803C",
    success="#56B4E9",
    foreground="#E6EAF0",
    background="#12171E",
    surface="#1A212B",
    panel="#26303D",
    dark=True,
    variables=PATH_VARIABLES_DARK,
)
LIGHT = Theme(
    name="planner-light",
    primary="#005F99",
    secondary="#3A86B8",
    accent="#9A5200",
    warning="#7A5B00",
    error="#A84300",
    success="#005F99",
    foreground="#1B2430",
    background="#FBFBF9",
    surface="#F1F3F5",
    panel="#DDE4EB",
    dark=False,
    variables=PATH_VARIABLES_LIGHT,
)
THEMES = (DARK, LIGHT)
