"""Profiles: what the planner knows, from where and how old, and one's own values laid over it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import DataTable, Input, OptionList, Static
from textual.widgets.option_list import Option

from planner.domain.errors import PlannerError
from planner.domain.plan import Plan
from planner.tui import profile_texts, safe
from planner.tui.actions import bindings_for
from planner.tui.profile_texts import KIND_TITLES, ProfileView
from planner.tui.screens.base import PlanScreen
from planner.tui.screens.dialogs import Ask, Blank, Choose, TextDialog
from planner.tui.widgets.search import SearchInput
from planner.tui.widgets.table import ROW_LIMIT, Column, KeyTable, Row

COLUMNS: tuple[Column, ...] = (
    Column("id", "Id", 0, weight=1),
    Column("summary", "Figures", 0, weight=1),
    Column("as_of", "As of", 10, 2),
    Column("age", "Age", 7, 1),
    Column("origin", "Origin", 14, 3),
)
ALL = "(all)"


class ProfilesScreen(PlanScreen):
    """Browse, search, override."""

    PLACE = "profiles"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("profiles")]
    HELP = (
        "Everything the planner knows, by kind, with source and date; ! marks what is older than half a year."
        " / looks for words, o sets your own value for a field (kept in your config folder, marked ●), v takes it"
        " back, Enter shows all."
    )

    def __init__(self) -> None:
        super().__init__()
        self.kind = KIND_TITLES[0][0]
        self.words = ""
        self._read: tuple[Any, ...] | None = None

    def body(self) -> Iterator[Widget]:
        """Yield kinds, search line, table and details."""
        with Horizontal(id="profiles"):
            yield OptionList(id="kinds", compact=True)
            with Vertical(id="profiles-main"):
                yield Static("", id="profiles-state")
                yield SearchInput("search by words, Enter keeps, Esc clears", id="profiles-search")
                yield KeyTable(COLUMNS, id="profiles-table", least_flex=20)
                with VerticalScroll(id="profile-detail", can_focus=False):
                    yield Static("", id="profile-text")

    def on_mount(self) -> None:
        """Start in the list of kinds."""
        self.query_one("#kinds").focus()

    def show(self, plan: Plan) -> None:
        """Nothing here depends on the plan."""

    def refresh_state(self) -> None:
        """Show profiles that were read again."""
        if self.planner.profiles is not self._read:
            self._read = self.planner.profiles
            self._show_kinds()
            self._fill()

    def _show_kinds(self) -> None:
        entries = self.query_one("#kinds", OptionList)
        counts: dict[str, int] = {}
        for profile in self.planner.profiles:
            counts[profile.kind] = counts.get(profile.kind, 0) + 1
        kinds = [(kind, title) for kind, title in KIND_TITLES if kind in counts]
        with self.prevent(OptionList.OptionHighlighted):
            entries.clear_options()
            for kind, title in kinds:
                entries.add_option(Option(_kind_line(title, counts[kind]), id=kind))
            ids = [kind for kind, _ in kinds]
            if self.kind not in ids and ids:
                self.kind = ids[0]
            if ids:
                entries.highlighted = ids.index(self.kind)

    def found(self) -> list[ProfileView]:
        """Return the profiles of the kind that contain all the words."""
        words = self.words.casefold().split()
        mine: list[ProfileView] = [profile for profile in self.planner.profiles if profile.kind == self.kind]
        return [p for p in mine if not words or all(word in profile_texts.haystack(p) for word in words)]

    def _fill(self) -> None:
        found = self.found()
        self.query_one(KeyTable).fill([Row(profile.id, self._cells(profile)) for profile in found[:ROW_LIMIT]])
        title = dict(KIND_TITLES).get(self.kind, self.kind)
        state = f"{title}: {min(len(found), ROW_LIMIT):,} of {len(found):,} shown"
        if self.words:
            state += f" · with “{self.words}”"
        elif len(found) > ROW_LIMIT:
            state += " · press / to narrow it down"
        self.query_one("#profiles-state", Static).update(safe.content(state, "$muted"))
        self._show_detail()

    def _cells(self, profile: ProfileView) -> tuple[Text, ...]:
        as_of = profile_texts.field_of(profile.value, "as_of")
        days = profile_texts.age(as_of, self.planner.today)
        own = bool(profile.overridden)
        style = self.app.theme_variables.get("accent", "") if own else ""
        texts = (
            f"● {profile.id}" if own else profile.id,
            profile_texts.summary(profile.value),
            as_of,
            profile_texts.age_words(days),
            profile_texts.origin(profile),
        )
        return tuple(safe.cell(text, style) for text in texts)

    def selected(self) -> ProfileView | None:
        """Return the profile under the cursor."""
        key = self.query_one(KeyTable).selected
        return next((p for p in self.planner.profiles if p.kind == self.kind and p.id == key), None)

    @on(OptionList.OptionHighlighted, "#kinds")
    def _kind_chosen(self, event: OptionList.OptionHighlighted) -> None:
        if event.option.id is not None and event.option.id != self.kind:
            self.kind = event.option.id
            self._fill()

    @on(OptionList.OptionSelected, "#kinds")
    def _enter_table(self) -> None:
        self.query_one(KeyTable).focus()

    @on(DataTable.RowHighlighted)
    def _show_detail(self) -> None:
        pane = self.query_one("#profile-detail")
        if pane.display:
            profile = self.selected()
            text = profile_texts.detail(profile, self.planner.today) if profile else safe.content("Nothing found.")
            self.query_one("#profile-text", Static).update(text)
            pane.scroll_home(animate=False)

    @on(DataTable.RowSelected)
    def _open(self) -> None:
        profile = self.selected()
        if profile is not None:
            text = profile_texts.detail(profile, self.planner.today).plain
            self.app.push_screen(TextDialog(f"{profile.kind} {profile.id}", text))

    def copy_text(self) -> str:
        """Return the whole profile under the cursor."""
        profile = self.selected()
        return profile_texts.detail(profile, self.planner.today).plain if profile else ""

    # ── search and override ──────────────────────────────────────────────────────────────────────────────────

    def action_search(self) -> None:
        """Open the search line."""
        self.query_one(SearchInput).open()

    @on(Input.Changed, "#profiles-search")
    def _search_changed(self, event: Input.Changed) -> None:
        self.words = event.value
        self._fill()

    @on(SearchInput.Closed)
    def _search_closed(self) -> None:
        self.query_one(KeyTable).focus()

    def action_override(self) -> None:
        """Choose a field of the profile and give it a value."""
        profile = self.selected()
        if profile is None:
            self.planner.tell("Choose a profile first.", "warning")
            return
        fields = [(key, f"{key} = {value or '—'}") for key, value in profile_texts.scalar_fields(profile.value)]
        title = f"Which field of {profile.id}?"
        self.app.push_screen(Choose(title, fields), partial(self._field_chosen, profile))

    def _field_chosen(self, profile: ProfileView, field: str | None) -> None:
        if field is None:
            return
        value = dict(profile_texts.scalar_fields(profile.value))[field]
        source = profile_texts.field_of(profile.value, "source")
        text = f"Source: {source}. Your value goes into your own config folder."
        blank = Blank("value", field, value, "a number, a word, true or false")
        self.app.push_screen(
            Ask(f"Your own value for {profile.id}", [blank], "Set", text), partial(self._set, profile, field)
        )

    def _set(self, profile: ProfileView, field: str, values: dict[str, str] | None) -> None:
        if values is None or not values["value"]:
            return
        try:
            path = self.planner.store.override(profile.kind, profile.id, field, typed_value(values["value"]))
        except PlannerError as error:
            self.planner.report(error)
            return
        self.planner.tell(f"{field} of {profile.id} is now {values['value']} (in {path}).")
        self.planner.action_reload()

    def action_revert(self) -> None:
        """Take one's own values back."""
        profile = self.selected()
        if profile is None or not profile.overridden:
            self.planner.tell("This profile has no values of your own.")
        elif len(profile.overridden) == 1:
            self._revert(profile, profile.overridden[0])
        else:
            choices = [(ALL, "all of them"), *((name, name) for name in profile.overridden)]
            self.app.push_screen(Choose("Take back which value?", choices), partial(self._revert, profile))

    def _revert(self, profile: ProfileView, field: str | None) -> None:
        if field is None:
            return
        try:
            for name in profile.overridden if field == ALL else (field,):
                self.planner.store.clear_override(profile.kind, profile.id, name)
        except PlannerError as error:
            self.planner.report(error)
        else:
            self.planner.tell(f"{profile.id} has its own {'values' if field == ALL else field} no longer.")
        self.planner.action_reload()


def _kind_line(title: str, count: int) -> Content:
    return safe.content(f"{title:<12}{count:>6,}")


def typed_value(text: str) -> Any:
    """Return what a text means as TOML (a number, true, false, a quoted word), else the text."""
    try:
        return tomllib.loads(f"value = {text}")["value"] if "\n" not in text else text
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
