"""Widgets: each shows one kind of value and computes nothing."""
