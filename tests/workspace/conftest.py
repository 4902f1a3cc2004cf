"""The small set of profiles these tests read."""

from tests.small_profiles import home, shipped

__all__ = ["home", "shipped"]
