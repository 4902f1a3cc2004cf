"""Workload: the form, page by page, and the answer's key figures beside it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from planner.domain.errors import PlannerError
from planner.domain.plan import Plan
from planner.domain.workload import Workload
from planner.tui import draft as drafts
from planner.tui import safe
from planner.tui.actions import bindings_for
from planner.tui.completions import completions
from planner.tui.draft import Draft, History, Problem
from planner.tui.fields import Field, Page, pages
from planner.tui.messages import WorkloadEdited
from planner.tui.screens.base import PlanScreen
from planner.tui.screens.dialogs import Ask, Blank, Choose, error_dialog
from planner.tui.widgets.form import FieldRow, path_matches
from planner.tui.widgets.key_figures import KeyFigures

OPEN_FILE = "open-file"
NEW_BATCH = {"documents": 1000, "input_tokens": 2000, "output_tokens": 300, "deadline_hours": 8}


class WorkloadScreen(PlanScreen):
    """Edits are checked as they are typed; every valid draft is computed."""

    PLACE = "workload"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("workload")]
    HELP = (
        "The described work, in pages. Pick a page on the left, Enter or → goes into its fields, ↑↓ move between them,"
        " Escape leaves a field so that letters are keys again. An empty field takes the default shown in grey. 20k, 3M"
        " and 5% are understood."
    )

    def __init__(self) -> None:
        super().__init__()
        self.draft: Draft = {}
        self.saved: Draft = {}
        self.history = History()
        self.problems: tuple[Problem, ...] = ()
        self.page = "general"
        self._valid: Workload | None = None
        self._opened = -1

    def body(self) -> Iterator[Widget]:
        """Yield pages, form and key figures."""
        with Horizontal(id="workload"):
            yield OptionList(id="pages", compact=True)
            with Vertical(id="form"):
                yield Static("", id="form-title")
                yield VerticalScroll(id="fields", can_focus=False)
                yield Static("", id="field-help")
            with VerticalScroll(id="figures-side", can_focus=False):
                yield KeyFigures("", classes="figures", id="figures-wide")
        yield KeyFigures("", classes="figures", id="figures-narrow")

    def on_mount(self) -> None:
        """Start in the list of pages."""
        self.query_one("#pages").focus()

    @property
    def dirty(self) -> bool:
        """Say whether there are edits that are not in a file."""
        return self.draft != self.saved

    def show(self, plan: Plan) -> None:
        """Leave it to `refresh_state`: the key figures also show whether they are fresh."""

    def refresh_state(self) -> None:
        """Take over a workload that was opened, and show whether the figures are fresh."""
        app = self.planner
        if app.workload is not None and app.opened != self._opened:
            self._opened = app.opened
            self._load(app.workload)
        if app.plan is not None:
            self.query_one("#figures-wide", KeyFigures).show(app.plan, app.busy, wide=True)
            self.query_one("#figures-narrow", KeyFigures).show(app.plan, app.busy, wide=False)

    def _load(self, workload: Workload) -> None:
        self.draft = self.saved = drafts.draft_of(workload)
        self.history = History()
        self._valid, self.problems = workload, ()
        self._show_pages()
        self._show_fields()

    # ── pages and fields ─────────────────────────────────────────────────────────────────────────────────────

    def pages(self) -> tuple[Page, ...]:
        """Return the pages for the last valid draft."""
        return pages(self._valid, self.planner.library) if self._valid else ()

    def current(self) -> Page | None:
        """Return the page that is shown."""
        found = [page for page in self.pages() if page.id == self.page]
        return found[0] if found else next(iter(self.pages()), None)

    def _show_pages(self) -> None:
        entries = self.query_one("#pages", OptionList)
        room = 15 if self.app.size.width < 100 else 22
        with self.prevent(OptionList.OptionHighlighted):
            entries.clear_options()
            for page in self.pages():
                wrong = any(path_matches(p.path, f.path) for p in self.problems for f in page.fields)
                label = safe.line(page.title, room - 2 if wrong else room)
                prompt = safe.content(f"✗ {label}", "$error") if wrong else safe.content(label)
                entries.add_option(Option(prompt, id=page.id))
            ids = [page.id for page in self.pages()]
            if self.page not in ids:
                self.page = ids[0] if ids else "general"
            if ids:
                entries.highlighted = ids.index(self.page)

    def _show_fields(self) -> None:
        page, holder = self.current(), self.query_one("#fields", VerticalScroll)
        holder.remove_children()
        if page is None:
            return
        rows = [self._row(item) for item in page.fields]
        holder.mount_all(rows)
        self.call_after_refresh(self._show_problems)
        self._show_title()

    def _row(self, item: Field) -> FieldRow:
        offered = completions(item.known, self.planner.library)
        return FieldRow(item, drafts.show(drafts.get(self.draft, item.path)), offered)

    def _show_title(self) -> None:
        page = self.current()
        if page is None:
            return
        state = " · not saved" if self.dirty else ""
        fields = [item for one in self.pages() for item in one.fields]
        other = [p for p in self.problems if not any(path_matches(p.path, item.path) for item in fields)]
        title = safe.content(f"{safe.line(page.title)}{state}", "bold $primary")
        if other:
            title += safe.content(f"\n✗ {safe.line(other[0].text)}", "$error")
        self.query_one("#form-title", Static).update(title)

    def _show_problems(self) -> None:
        for row in self.query(FieldRow):
            found = [p.text for p in self.problems if path_matches(p.path, row.field.path)]
            row.complain(found[0] if found else "")
        self._show_title()

    @on(OptionList.OptionHighlighted, "#pages")
    def _page_chosen(self, event: OptionList.OptionHighlighted) -> None:
        if event.option.id is not None and event.option.id != self.page:
            self.page = event.option.id
            self._show_fields()

    @on(OptionList.OptionSelected, "#pages")
    def _enter_page(self) -> None:
        first = self.query("FieldRow FieldInput, FieldRow Select").first(Widget)
        first.focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Explain the field that has the focus."""
        row = next((node for node in event.widget.ancestors_with_self if isinstance(node, FieldRow)), None)
        help_text = row.field.help if row else "Enter goes into the page, Esc leaves a field."
        self.query_one("#field-help", Static).update(safe.content(safe.line(help_text), "$muted"))

    def action_leave_field(self) -> None:
        """Give the focus back to the list of pages."""
        self.query_one("#pages").focus()

    # ── edits ────────────────────────────────────────────────────────────────────────────────────────────────

    @on(FieldRow.Edited)
    def _edited(self, event: FieldRow.Edited) -> None:
        before, value = self.draft, drafts.parse(event.field, event.text)
        if event.field.path == ("money", "fx", "rate"):
            self.draft = drafts.put_rate(self.draft, value, self.planner.today.isoformat())
        else:
            self.draft = drafts.put(self.draft, event.field.path, value)
        self.history.edited(before, event.field.path)
        self._check()

    def _check(self) -> None:
        """Check the draft, show what is wrong, and hand a valid one to the app."""
        workload, self.problems = drafts.check(self.draft, self.planner.library)
        if workload is not None:
            self._valid = workload
        self._show_pages()
        self._show_problems()
        self.planner.post_message(WorkloadEdited(workload, len(self.problems)))

    def _replace(self, new: Draft) -> None:
        """Show another draft as a whole: after undo, redo, add and remove."""
        self.draft = new
        workload, self.problems = drafts.check(new, self.planner.library)
        if workload is not None:
            self._valid = workload
        self._show_pages()
        page = self.current()
        rows = {row.field.path: row for row in self.query(FieldRow)}
        if page is not None and set(rows) == {item.path for item in page.fields}:
            for path, row in rows.items():
                row.set_text(drafts.show(drafts.get(new, path)))
            self._show_problems()
        else:
            self._show_fields()
        self.planner.post_message(WorkloadEdited(workload, len(self.problems)))

    def action_undo(self) -> None:
        """Take back the last edit."""
        self._step(self.history.undo(self.draft), "Nothing to undo.")

    def action_redo(self) -> None:
        """Repeat what was taken back."""
        self._step(self.history.redo(self.draft), "Nothing to redo.")

    def _step(self, draft: Draft | None, otherwise: str) -> None:
        if draft is None:
            self.planner.tell(otherwise)
        else:
            self._replace(draft)

    def action_add_part(self) -> None:
        """Add a part of the mix (its share is taken from the first) or a batch job."""
        if self._valid is None:
            return
        kinds = [
            ("mix", "A part of the mix: another model for a share of the requests"),
            ("batch", "A batch job: work that waits for no person"),
        ]
        self.app.push_screen(Choose("Add", kinds), self._add)

    def _add(self, kind: str | None) -> None:
        if kind is None or self._valid is None:
            return
        before, new = self.draft, self.draft
        items = list(drafts.get(new, (kind,)) or [])
        names = {str(item.get("name")) for item in items}
        name = next(name for name in (f"{kind} {number}" for number in count(len(items) + 1)) if name not in names)
        if kind == "batch":
            items.append({"name": name, **NEW_BATCH})
        else:
            share = float(items[0]["share"])
            items[0] = {**items[0], "share": round(share / 2, 6)}
            items.append({"name": name, "share": round(share - share / 2, 6), "model": items[0]["model"]})
        self.page = f"{kind}-{len(items) - 1}"
        self.history.edited(before, None)
        self._replace(drafts.put(new, (kind,), items))

    def action_remove_part(self) -> None:
        """Remove the part or job that is shown; a part's share goes to the first one left."""
        kind, _, number = self.page.partition("-")
        items = list(drafts.get(self.draft, (kind,)) or []) if number else []
        if not items or (kind == "mix" and len(items) == 1):
            self.planner.tell("Only batch jobs, and parts of a mix of several, can be removed.", "warning")
            return
        gone = items.pop(int(number))
        if kind == "mix":
            items[0] = {**items[0], "share": round(float(items[0]["share"]) + float(gone["share"]), 6)}
        self.history.edited(self.draft, None)
        self.page = f"{kind}-0" if items else "general"
        self._replace(drafts.put(self.draft, (kind,), items or None))

    # ── files ────────────────────────────────────────────────────────────────────────────────────────────────

    def action_save(self) -> None:
        """Write to the workload's own file; a shipped one is saved under a new name."""
        path = self.planner.workload_path
        if path is None or not self.planner.is_own_file(path):
            self.action_save_as()
        else:
            self._write({"path": path})

    def action_save_as(self) -> None:
        """Ask for a file and write there."""
        if self._valid is None or self.problems:
            self.planner.tell("Correct the marked fields first; then it can be saved.", "warning")
            return
        path = self.planner.workload_path
        name = str(path) if self.planner.is_own_file(path) else f"{self._valid.name}.toml"
        blank = Blank("path", "File", name, "my-team.toml")
        self.app.push_screen(Ask("Save the workload as", [blank], "Save"), self._write)

    def _write(self, values: dict[str, str] | None) -> None:
        if values is None or self._valid is None:
            return
        if self.problems:
            self.planner.tell("Correct the marked fields first; then it can be saved.", "warning")
            return
        path = Path(values["path"]).expanduser()
        try:
            self.planner.store.save_workload(self._valid, path)
        except PlannerError as error:
            self.app.push_screen(error_dialog(error))
            return
        self.saved = self.draft
        self.planner.saved_as(str(path))
        self._show_title()
        self.planner.tell(f"Saved: {path}")

    def action_load(self) -> None:
        """Choose a shipped workload or a file."""
        names = self.planner.workload_names()
        choices = [*((name, name) for name in names), (OPEN_FILE, "open a file…")]
        self.app.push_screen(Choose("Open a workload", choices), self._chosen)

    def _chosen(self, name: str | None) -> None:
        if name == OPEN_FILE:
            blank = Blank("path", "File", "", "my-team.toml")
            self.app.push_screen(Ask("Open a workload file", [blank], "Open"), self._path_chosen)
        elif name is not None:
            self.planner.open_named(name)

    def _path_chosen(self, values: dict[str, str] | None) -> None:
        if values is not None and values["path"]:
            self.planner.open_named(values["path"])
