"""A Plan out: text, JSON, CSV, Markdown. Formats numbers, never computes them."""
