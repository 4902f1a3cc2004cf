"""inference-planner."""
