"""x."""
def main() -> int:
    """x."""
    return 0
