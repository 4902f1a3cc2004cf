"""The terminal program: one plan, five screens, and workers that never touch a widget."""

from __future__ import annotations

import datetime as dt
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on, work
from textual.binding import BindingType
from textual.reactive import reactive
from textual.screen import Screen
from textual.timer import Timer
from textual.worker import Worker, WorkerState

from planner.domain.errors import EnvironmentFault, PlannerError
from planner.domain.library import Library
from planner.domain.workload import Workload
from planner.tui import messages, safe
from planner.tui.actions import bindings_for
from planner.tui.app_actions import AppActions
from planner.tui.jobs import JobRunner
from planner.tui.profile_texts import ProfileView
from planner.tui.screens.answer import AnswerScreen
from planner.tui.screens.base import PlanScreen
from planner.tui.screens.dialogs import Confirm
from planner.tui.screens.options import OptionsScreen
from planner.tui.screens.probes import ProbesScreen
from planner.tui.screens.profiles import ProfilesScreen
from planner.tui.screens.workload import WorkloadScreen
from planner.tui.themes import PATH_VARIABLES_DARK, PATH_VARIABLES_LIGHT, THEMES

if TYPE_CHECKING:
    from planner.tui.ports import WorkspacePort

DEFAULT_WORKLOAD = "team-80-20"
DEBOUNCE_S = 0.15
"""Wait this long after an edit before recomputing, so that typing a number is one computation."""
JOB_REDRAW_S = 0.1
"""A probe may send hundreds of samples a second; nobody reads faster than this."""
LOADING = "loading profiles…"
RECOMPUTING = "recomputing…"
NO_PLAN = "no plan for this workload"


class PlannerApp(AppActions):
    """The whole program; `plan` is the only state that the screens share."""

    TITLE = "planner"
    CSS_PATH = "planner.tcss"
    ENABLE_COMMAND_PALETTE = True
    MODES: ClassVar[dict[str, type[Screen[Any]]]] = {  # type: ignore[assignment]
        "answer": AnswerScreen,
        "workload": WorkloadScreen,
        "options": OptionsScreen,
        "probes": ProbesScreen,
        "profiles": ProfilesScreen,
    }
    DEFAULT_MODE = "answer"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("")]

    busy: reactive[str] = reactive(LOADING, init=False)
    """Why the figures on the screen are not the final answer; empty when they are."""

    def __init__(
        self, workload: str | None = None, workspace: WorkspacePort | None = None, today: dt.date | None = None
    ) -> None:
        super().__init__()
        self._wanted, self.workspace = workload, workspace
        self.today = today or dt.date.today()
        self.library: Library | None = None
        self.workload: Workload | None = None
        self.profiles: tuple[ProfileView, ...] = ()
        self.workload_path: str | None = None
        self.opened = 0
        """Counts opened workloads, so that the form knows a new one from its own edits."""
        self.jobs = JobRunner(self)
        self._generation = 0
        self._planning = False
        self._job_drawn_soon = False
        self._timer: Timer | None = None
        for theme in THEMES:
            self.register_theme(theme)
        # TEXTUAL_THEME and a user's ansi terminal stay in charge when they ask for something else.
        if self.theme == "textual-dark":
            self.theme = "planner-dark"

    # ── start ────────────────────────────────────────────────────────────────────────────────────────────────

    def on_mount(self) -> None:
        """Open the store only after the first paint."""
        self.call_after_refresh(self._open)

    def on_unmount(self) -> None:
        """End a running child, so that leaving never waits for it."""
        self.jobs.cancel()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give foreign themes the planner's own variables."""
        return PATH_VARIABLES_DARK if self.current_theme.dark else PATH_VARIABLES_LIGHT

    @work(thread=True, group="open", exclusive=True, exit_on_error=False)
    def _open(self) -> None:
        workspace = self._connect()
        library = workspace.library()
        wanted = self._wanted or workspace.last_workload() or DEFAULT_WORKLOAD
        try:
            workload = workspace.load_workload(str(wanted))
        except PlannerError as error:
            if str(wanted) == DEFAULT_WORKLOAD:
                raise
            self.post_message(messages.Failed(error))
            wanted = DEFAULT_WORKLOAD
            workload = workspace.load_workload(DEFAULT_WORKLOAD)
        self.post_message(messages.Opened(library, tuple(workspace.profiles()), workload, str(wanted)))

    def _connect(self) -> WorkspacePort:
        if self.workspace is None:
            # DuckDB and the profiles take a few hundred milliseconds: not before the first paint.
            from planner.workspace import Workspace  # noqa: PLC0415

            self.workspace = cast("WorkspacePort", Workspace())
        return self.workspace

    @property
    def store(self) -> WorkspacePort:
        """Return the workspace; raises EnvironmentFault while it is still being opened."""
        if self.workspace is None or self.library is None:
            raise EnvironmentFault("The profiles are still being read.", "Try again in a moment.")
        return self.workspace

    @on(messages.Opened)
    def _opened(self, message: messages.Opened) -> None:
        self.library, self.profiles = message.library, message.profiles
        self.open_workload(message.workload, message.path)
        if self._wanted and message.path == self._wanted:
            self._remember(self._wanted)

    # ── the plan ─────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def workload_name(self) -> str:
        """Return the name of the open workload."""
        return self.workload.name if self.workload else ""

    def open_workload(self, workload: Workload, path: str | None) -> None:
        """Make another workload the open one and compute its plan."""
        self.workload, self.workload_path = workload, path
        self.opened += 1
        self.recompute(0)
        self.sync_screens()

    def open_named(self, name: str) -> None:
        """Open a shipped workload or a file by name; an error leaves the present one open."""
        try:
            workload = self.store.load_workload(name)
        except PlannerError as error:
            self.report(error)
            return
        self.open_workload(workload, name)
        self._remember(name)

    def saved_as(self, path: str) -> None:
        """Note the file that the open workload now lives in."""
        self.workload_path = path
        self._remember(path)

    @work(thread=True, group="remember", exit_on_error=False)
    def _remember(self, path: str) -> None:
        file = Path(path).expanduser()
        self._connect().remember_workload(str(file.resolve()) if file.is_file() else path)

    def workload_names(self) -> list[str]:
        """Return the names of the shipped workloads."""
        return list(self.store.workload_names())

    def is_own_file(self, path: str | None) -> bool:
        """Say whether a path is a person's own file, not the name or the file of a shipped workload."""
        return path is not None and path.endswith(".toml") and Path(path).stem not in self.workload_names()

    @on(messages.WorkloadEdited)
    def _edited(self, message: messages.WorkloadEdited) -> None:
        if message.workload is None:
            count = message.problems
            self._generation += 1
            self.busy = f"not recomputed: {count} field{'s' * (count != 1)} to correct"
        elif message.workload != self.workload or self.busy:
            self.workload = message.workload
            self.recompute()

    def recompute(self, delay: float = DEBOUNCE_S) -> None:
        """Compute the plan of the open workload soon; until then the figures are marked as old."""
        self._generation += 1
        self.busy = RECOMPUTING
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(delay, self._start_planning) if delay else None
        if not delay:
            self._start_planning()

    def _start_planning(self) -> None:
        # One computation at a time: threads can't be stopped, and piling them up would slow the newest.
        if self._planning or self.workload is None:
            return
        self._planning = True
        # A daemon thread, not a worker: Python waits for workers when it ends, and leaving must not wait for a plan.
        about = (self._generation, self.workload)
        threading.Thread(target=self._compute, args=about, name="planner-plan", daemon=True).start()

    def _compute(self, generation: int, workload: Workload) -> None:
        try:
            plan = self._connect().plan(workload, self.today)
        except PlannerError as error:
            self.post_message(messages.Failed(error, generation))
        except Exception as error:  # a thread has nobody above it who could tell the person
            self.post_message(messages.Failed(_unexpected(error), generation))
        else:
            self.post_message(messages.Planned(generation, plan))

    @on(messages.Planned)
    def _planned(self, message: messages.Planned) -> None:
        self._planning = False
        if message.generation != self._generation:
            if self.busy == RECOMPUTING:
                self._start_planning()
            return
        self.plan = message.plan
        self.busy = ""

    @on(messages.Failed)
    def _failed(self, message: messages.Failed) -> None:
        if message.generation is not None:
            self._planning = False
            if message.generation != self._generation:
                self._start_planning()
                return
            self.busy = NO_PLAN
            if isinstance(self.screen, WorkloadScreen):
                # A dialog would take the keys of somebody who is still typing.
                self.tell(str(message.error), "error")
                return
        self.report(message.error)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Turn an unexpected failure in a worker into one message; a store that can't open ends the program."""
        if event.state is not WorkerState.ERROR:
            return
        cause = event.worker.error
        error = cause if isinstance(cause, PlannerError) else _unexpected(cause)
        if event.worker.group == "open":
            self.exit(int(error.exit_code), return_code=int(error.exit_code), message=safe.content(error).plain)
            return
        self.post_message(messages.Failed(error))

    def watch_plan(self) -> None:
        """Hand the new plan to the screen in front."""
        self.sync_screens()

    def watch_busy(self) -> None:
        """Show the new state on the screen in front."""
        self.sync_screens()

    def sync_screens(self) -> None:
        """Bring the main screen in front up to date; the others catch up when they are shown."""
        for screen in self.screen_stack:
            if isinstance(screen, PlanScreen):
                screen.sync()


    # ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────────

    @on(messages.JobEvent)
    def _job_event(self, message: messages.JobEvent) -> None:
        self.jobs.take(message.event)
        if not self._job_drawn_soon:
            self._job_drawn_soon = True
            self.set_timer(JOB_REDRAW_S, self._draw_job)

    def _draw_job(self) -> None:
        self._job_drawn_soon = False
        self.sync_screens()

    @on(messages.JobEnded)
    def _job_ended(self, message: messages.JobEnded) -> None:
        self.jobs.ended(message)
        self.sync_screens()
        if message.error is not None:
            self.report(message.error)
        elif message.cancelled:
            self.tell(f"The {message.kind} was cancelled.", "warning")
        else:
            self.tell(f"The {message.kind} is done; the plan uses it now.")
        if message.error is None:
            self.action_reload()

    # ── leaving and reading again ────────────────────────────────────────────────────────────────────────────

    def action_leave(self) -> None:
        """Leave the program; ask first when edits of the workload are not in a file."""
        if not isinstance(self.screen, PlanScreen):
            return
        if any(screen.dirty for screen in self._workload_screens()):
            text = "The workload has changes that are not in a file."
            self.push_screen(Confirm("Leave without saving?", text, "Leave"), self._leave)
        else:
            self._leave(True)

    def _leave(self, agreed: bool | None) -> None:
        if agreed:
            self.jobs.cancel()
            self.exit(0)

    def _workload_screens(self) -> list[WorkloadScreen]:
        """Return the workload screen, if it was ever shown."""
        found = (screen for stack in self._screen_stacks.values() for screen in stack)
        return [screen for screen in found if isinstance(screen, WorkloadScreen)]

    def action_reload(self) -> None:
        """Read profiles again and recompute."""
        if self.workload is not None:
            self.busy = RECOMPUTING
            self._reload()

    @work(thread=True, group="reload", exclusive=True, exit_on_error=False)
    def _reload(self) -> None:
        workspace = self._connect()
        workspace.refresh()
        self.post_message(messages.Reloaded(workspace.library(), tuple(workspace.profiles())))

    @on(messages.Reloaded)
    def _reloaded(self, message: messages.Reloaded) -> None:
        self.library, self.profiles = message.library, message.profiles
        self.sync_screens()
        self.recompute(0)


def _unexpected(cause: BaseException | None) -> PlannerError:
    return PlannerError(
        f"Something failed inside the planner: {type(cause).__name__}: {cause}",
        "This is a fault of the program; `planner doctor` prints what a report needs.",
    )


def run(workload: str | None = None, workspace: WorkspacePort | None = None, *, mouse: bool = True) -> int:
    """Run the terminal program and return its exit code; without the mouse, the terminal selects text itself."""
    app = PlannerApp(workload, workspace)
    result = app.run(mouse=mouse)
    return app.return_code or result or 0
