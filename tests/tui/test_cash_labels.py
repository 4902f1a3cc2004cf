"""Labels of cash flow rows stay apart when several machines are paid for."""

from planner.tui.widgets.option_detail import _cash_labels


def test_rows_of_several_machines_get_a_letter_each():
    rows = ["1× Card A with a long name: Energy, idle", "1× Card B: Energy, idle", "1× Card B: Resale"]
    labels, legend = _cash_labels(rows)
    assert labels == ["a Energy, idle", "b Energy, idle", "b Resale"]
    assert legend == ["a = 1× Card A with a long name", "b = 1× Card B"]


def test_rows_of_one_machine_keep_their_names():
    assert _cash_labels(["machine", "energy"]) == (["machine", "energy"], [])
