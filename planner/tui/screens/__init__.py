"""Screens: one file per mode or dialog."""
