"""The one registry of actions: bindings, footer, help and palette are all made from it."""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True)
class Place:
    """One main screen: its mode id, its title and what it is for."""

    id: str
    title: str
    purpose: str


PLACES: tuple[Place, ...] = (
    Place("answer", "Answer", "The verdict, the paths side by side and when buying pays."),
    Place("workload", "Workload", "Describe the work; the figures follow as you type."),
    Place("options", "Options", "Every way to do the work, with the reasons for and against."),
    Place("probes", "Probes", "Measure this machine or an endpoint and see the history."),
    Place("profiles", "Profiles", "Devices, models, prices and assumptions: source, date, override."),
)
"""In the order of their number keys; code names them by id."""

TABLE = "table"
"""The place of actions that every table understands."""


@dataclass(frozen=True)
class Action:
    """Something a person can do: a stable id, its key, and the words that explain it."""

    id: str
    key: str
    label: str
    tooltip: str
    group: str
    call: str
    """The Textual action, such as `go('answer')`."""
    place: str = ""
    """Mode id, `table`, or empty for everywhere."""
    footer: bool = True

    @property
    def keys(self) -> tuple[str, ...]:
        """Return each key that triggers it."""
        return tuple(self.key.split(","))


def _screens() -> tuple[Action, ...]:
    return tuple(
        Action(f"screen.{place.id}", str(number), place.title, place.purpose, "Screens", f"go('{place.id}')", "", False)
        for number, place in enumerate(PLACES, start=1)
    )


ACTIONS: tuple[Action, ...] = (
    *_screens(),
    Action("app.help", "f1", "Help", "Explain the focused thing and list the keys that work here.", "Program", "help"),
    Action("app.palette", "ctrl+p", "Menu", "Find any command by typing a part of its name.", "Program",
           "command_palette"),
    Action("app.quit", "q,ctrl+q", "Quit", "Leave the planner; a running probe is stopped.", "Program", "leave"),
    Action("app.theme", "t", "Theme", "Switch between the dark and the light theme.", "Program", "toggle_theme", "",
           False),
    Action("app.copy", "y", "Copy", "Copy what is focused as plain text.", "Program", "copy", "", False),
    Action("app.export", "e", "Export", "Write the whole answer to a file (Markdown, CSV or JSON by its ending).",
           "Program", "export", "", False),
    Action("app.reload", "f5", "Reload", "Read profiles and measurements again and recompute.", "Program", "reload",
           "", False),
    Action("app.notes", "n", "Notes", "Read past notifications and errors again.", "Program", "notes", "", False),
    Action("answer.open", "d", "Details", "Open the option of the selected path.", "Answer", "open_option", "answer"),
    Action("answer.more", "w", "Warnings", "Read warnings, advice and what would change the answer.", "Answer",
           "more", "answer"),
    Action("workload.undo", "u", "Undo", "Take back the last edit.", "Edit", "undo", "workload"),
    Action("workload.redo", "ctrl+r", "Redo", "Repeat the edit that was taken back.", "Edit", "redo", "workload"),
    Action("workload.save", "s", "Save", "Write the workload to its file.", "File", "save", "workload"),
    Action("workload.save_as", "S", "Save as", "Write the workload to another file.", "File", "save_as", "workload"),
    Action("workload.load", "l", "Load", "Start from a shipped workload or from a file.", "File", "load", "workload"),
    Action("workload.add", "a", "Add", "Add a part to the mix, or a batch job.", "Edit", "add_part", "workload"),
    Action("workload.remove", "x", "Remove", "Remove the part of the mix, or the batch job, that is shown.", "Edit",
           "remove_part", "workload"),
    Action("options.filter", "slash", "Filter", "Show only the options that contain the words you type.", "Options",
           "filter", "options"),
    Action("options.path", "p", "Path", "Show one path after the other, then all again.", "Options", "next_path",
           "options"),
    Action("options.feasible", "f", "Feasible", "Hide or show the options that are ruled out.", "Options",
           "toggle_feasible", "options"),
    Action("options.sort", "s", "Sort", "Sort by the next column.", "Options", "sort", "options"),
    Action("options.reverse", "S", "Reverse", "Turn the order around.", "Options", "reverse", "options", False),
    Action("probes.device", "d", "Device", "Measure a model file on this machine.", "Probes", "probe_device",
           "probes"),
    Action("probes.endpoint", "p", "Endpoint", "Measure an OpenAI-compatible endpoint.", "Probes", "probe_endpoint",
           "probes"),
    Action("probes.build", "b", "Build", "Build the device support (llama-cpp-python) for this machine.", "Probes",
           "build", "probes"),
    Action("probes.cancel", "x", "Cancel", "Stop the probe or the build that runs now.", "Probes", "cancel", "probes"),
    Action("profiles.search", "slash", "Search", "Show only the profiles that contain the words you type.", "Profiles",
           "search", "profiles"),
    Action("profiles.override", "o", "Override", "Set your own value for one field of this profile.", "Profiles",
           "override", "profiles"),
    Action("profiles.revert", "v", "Revert", "Take back your own values of this profile.", "Profiles", "revert",
           "profiles"),
    Action("table.down", "j", "Down", "Move the cursor down.", "Tables", "cursor_down", TABLE, False),
    Action("table.up", "k", "Up", "Move the cursor up.", "Tables", "cursor_up", TABLE, False),
    Action("table.left", "h", "Left", "Move the cursor left.", "Tables", "cursor_left", TABLE, False),
    Action("table.top", "g", "Top", "Go to the first row.", "Tables", "scroll_top", TABLE, False),
    Action("table.bottom", "G", "Bottom", "Go to the last row.", "Tables", "scroll_bottom", TABLE, False),
    Action("table.open", "enter", "Open", "Open the selected row.", "Tables", "select_cursor", TABLE, False),
)  # fmt: skip


def actions_for(place: str) -> tuple[Action, ...]:
    """Return the actions of one place (a mode id, `table`, or empty for everywhere)."""
    return tuple(action for action in ACTIONS if action.place == place)


def bindings_for(place: str) -> list[Binding]:
    """Return the key bindings of one place, made from the registry."""
    return [
        Binding(
            action.key, action.call, action.label, show=action.footer, id=action.id, tooltip=action.tooltip,
            key_display=_display(action),
        )
        for action in actions_for(place)
    ]  # fmt: skip


def _display(action: Action) -> str | None:
    """Return the first key as the footer shows it; Textual's own choice where there is only one plain key."""
    first = action.keys[0]
    return {"slash": "/", "ctrl+p": "^p", "ctrl+r": "^r"}.get(first, first if len(action.keys) > 1 else None)


def key_name(action: Action) -> str:
    """Return an action's keys as people read them."""
    return " ".join({"slash": "/"}.get(key, key) for key in action.keys)
