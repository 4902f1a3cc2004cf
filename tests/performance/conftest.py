"""The shipped profiles, without anybody's overrides."""

from tests.shipped_library import library

__all__ = ["library"]
