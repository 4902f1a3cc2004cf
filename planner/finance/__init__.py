"""finance."""
