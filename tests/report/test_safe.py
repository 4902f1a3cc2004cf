import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.report.csv import table
from planner.report.safe import clean, csv_text, markdown_text, pad, shorten, width


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07name", "name"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("a\nb\tc\r\nd", "a b c d"),
        ("bell\x07null\x00", "bellnull"),
        ("price \u202e5.0", "price 5.0"),
        ("zero\u200bwidth", "zerowidth"),
        ("lone \ud800", "lone \ufffd"),
        ("[/red] **bold**", "[/red] **bold**"),
        ("Größe 模型", "Größe 模型"),
    ],
)
def test_foreign_text_loses_what_moves_the_cursor_and_keeps_the_rest(hostile, shown):
    assert clean(hostile) == shown


@given(st.text())
def test_clean_text_has_no_control_characters_and_cleaning_again_changes_nothing(text):
    shown = clean(text)
    assert all(ord(char) >= 32 and not 0x7F <= ord(char) <= 0x9F for char in shown)
    assert clean(shown) == shown
    shown.encode("utf-8")


@given(st.text(), st.integers(min_value=1, max_value=40))
def test_padding_gives_exactly_the_columns_asked_for(text, columns):
    assert width(pad(clean(text), columns)) == columns


def test_wide_characters_count_twice():
    assert width("模型") == 4
    assert shorten("模型名称", 5) == "模型…"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\x1b[0m=1"])
def test_no_text_becomes_a_formula_in_a_spreadsheet(text):
    assert csv_text(text).startswith("'")


def test_csv_numbers_stay_numbers_and_texts_are_guarded():
    rows = list(csv.reader(io.StringIO(table(["name", "value"], [["=cmd()", -1.5], [None, True]]))))
    assert rows == [["name", "value"], ["'=cmd()", "-1.5"], ["", "true"]]


def test_markdown_shows_markup_as_it_is_written():
    assert markdown_text("a|b *c* <script>") == "a\\|b \\*c\\* \\<script\\>"
