"""Measures any OpenAI-compatible endpoint over HTTP."""
