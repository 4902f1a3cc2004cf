"""The workspace: a user's files, database and probes behind one object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.domain.errors import EnvironmentFault, InputError, nearest
from planner.domain.library import Library
from planner.domain.probe import ProbeRecord
from planner.domain.workload import Workload
from planner.importers.api_prices import api_prices, installed_version
from planner.store.database import Database
from planner.store.files import write_atomically
from planner.store.folders import folders, shipped_profiles
from planner.store.kinds import find_kind
from planner.store.library import library_from, with_aliases, with_inline
from planner.store.profiles import Profile
from planner.store.sources import PriceSource, Sources, gather, store_record
from planner.workspace import device, doctor, local, models, workloads
from planner.workspace.doctor import Check
from planner.workspace.probe_run import ProbeRun
from planner.workspace.version import tool_version

if TYPE_CHECKING:
    from planner.domain.plan import Plan
    from planner.store.overrides import Override

_LAST_WORKLOAD = "last_workload"


class Workspace:
    """A user's profiles, workloads, probe records and settings.

    Files live under `home`, else PLANNER_HOME, else where the operating system wants them. The database is
    opened for single operations only, so several planners can share it.
    """

    def __init__(self, home: Path | None = None, *, shipped: Path | None = None) -> None:
        self.folders = folders(home)
        self.shipped = shipped or shipped_profiles()
        self._database = Database(self.folders.database, tool_version())
        self._sources: Sources | None = None
        self._library: Library | None = None
        self._warnings: tuple[str, ...] = ()

    def library(self) -> Library:
        """Return all profiles with prices, overrides, probe records and this machine as `local`.

        Raises InputError for a wrong profile, EnvironmentFault for a damaged or newer database.
        """
        if self._library is None:
            library, clashes = library_from(self._gathered().profiles, self._gathered().probes)
            self._warnings = (*self._gathered().warnings, *clashes)
            if local.LOCAL not in library.hardware:
                here = local.local_hardware(local.detect(), library.probes, date.today().isoformat())
                library = replace(library, hardware={**library.hardware, local.LOCAL: here})
            library = models.with_probed_models(library)
            self._library = with_aliases(library)[0]
        return self._library

    def library_for(self, workload: Workload) -> Library:
        """Return the library with the workload's inline profiles on top."""
        return with_inline(self.library(), workload.profiles)

    def profiles(self) -> tuple[Profile, ...]:
        """Return every profile with its kind, origin and file."""
        return self._gathered().profiles

    def warnings(self) -> tuple[str, ...]:
        """Return what was left out or is ambiguous in the library."""
        self.library()
        return self._warnings

    def refresh(self) -> None:
        """Forget what was read, so that the next question sees files and records as they are now."""
        self._sources = self._library = None

    def workload_names(self) -> list[str]:
        """Return the names of the shipped workloads."""
        return workloads.shipped_names(self._workload_folder)

    def workload_path(self, name_or_path: str | Path) -> Path:
        """Return the file of a shipped name or a path; raises InputError with the nearest."""
        return workloads.workload_path(name_or_path, self._workload_folder)

    def load_workload(self, name_or_path: str | Path) -> Workload:
        """Return a workload by shipped name or path; raises InputError naming file, key and nearest key."""
        path = self.workload_path(name_or_path)
        workload = workloads.read_workload(path)
        workloads.check_ids(workload, self.library_for(workload), str(path))
        return workload

    def apply_sets(self, workload: Workload, sets: Sequence[str]) -> Workload:
        """Return the workload with `key=value` settings applied and its ids checked."""
        changed = workloads.apply_sets(workload, sets)
        if sets:
            workloads.check_ids(changed, self.library_for(changed), "--set " + " ".join(sets))
        return changed

    def save_workload(self, workload: Workload, path: Path) -> None:
        """Write a workload as TOML, atomically and keeping the comments of an existing file."""
        from planner.store.workload_files import workload_toml  # noqa: PLC0415 - tomlkit is needed to write only

        write_atomically(path, workload_toml(workload, path))

    def last_workload(self) -> str | None:
        """Return the path or name remembered last, None when there is none or it cannot be read."""
        try:
            value = self._database.setting(_LAST_WORKLOAD)
        except EnvironmentFault:
            return None
        return value if isinstance(value, str) else None

    def remember_workload(self, path: Path | str) -> None:
        """Remember a workload for the next start; a busy database is no reason to fail."""
        try:
            self._database.put_setting(_LAST_WORKLOAD, str(path))
        except EnvironmentFault:
            return

    def plan(self, workload: Workload, today: date) -> Plan:
        """Return the plan for a workload as of a day."""
        from planner.planning import plan  # noqa: PLC0415 - numpy and all estimators, needed here only

        return plan(workload, self.library_for(workload), today)

    def profile(self, kind: str, profile_id: str) -> Profile:
        """Return one profile of a kind; raises InputError naming the nearest id."""
        from planner.store.overrides import find_profile  # noqa: PLC0415

        return find_profile(self.profiles(), find_kind(kind), self._resolved(kind, profile_id))

    def profile_path(self, kind: str, profile_id: str) -> Path:
        """Return the file a profile comes from, or the user's file it would be overridden in."""
        from planner.store.overrides import override_path  # noqa: PLC0415

        found = self.profile(kind, profile_id)
        return Path(found.path) if found.path else override_path(self.folders.profiles, found)

    def override(self, kind: str, profile_id: str, field: str, value: Any) -> Path:
        """Set one field of a profile in the user's folder; raises InputError for a wrong field or value."""
        from planner.store.overrides import override  # noqa: PLC0415

        path = override(self.folders.profiles, self.profile(kind, profile_id), field, value)
        self.refresh()
        return path

    def clear_override(self, kind: str, profile_id: str, field: str) -> Path:
        """Take a field back to its shipped value; raises InputError when it was not overridden."""
        from planner.store.overrides import clear_override  # noqa: PLC0415

        path = clear_override(self.folders.profiles, self.profile(kind, profile_id), field)
        self.refresh()
        return path

    def overrides(self) -> tuple[Override, ...]:
        """Return every field the user has set."""
        from planner.store.overrides import overrides_of  # noqa: PLC0415

        return overrides_of(self.profiles())

    def probes(self) -> tuple[ProbeRecord, ...]:
        """Return the stored probe records, newest first."""
        return self._database.probes()[0]

    def probe(self, probe_id: str) -> ProbeRecord:
        """Return one record by id or an unambiguous beginning of it; raises InputError naming the nearest."""
        records = self.probes()
        found = [record for record in records if record.id == probe_id]
        found = found or [record for record in records if probe_id and record.id.startswith(probe_id)]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(f"{probe_id!r} is the beginning of {len(found)} probe records.", "Give more of the id.")
        hint = nearest(probe_id, [record.id for record in records]) or "`planner probe list` shows all."
        raise InputError(f"There is no probe record {probe_id!r}.", hint)

    def store_probe(self, record: ProbeRecord) -> None:
        """Store a record; where the database cannot take it, it is kept in a file that the error names."""
        store_record(self._database, self.folders, record)
        self.refresh()

    def run_probe(self, args: Sequence[str]) -> ProbeRun:
        """Start `python -m probes …` in a child process; iterating yields events and stores the record.

        A model file is identified first: as a profile's model where name and shape agree, else by its own name.
        Raises InputError for a broken model file.
        """
        arguments, facts = models.identified(list(args), self.library)

        def keep(record: ProbeRecord) -> ProbeRecord:
            full = models.with_facts(record, facts)
            self.store_probe(full)
            return full

        return ProbeRun(arguments, keep)

    def device_support(self) -> device.DeviceSupport:
        """Return whether the device probe can run here, and how it would be built."""
        return device.device_support()

    def build_device_support(self) -> device.DeviceBuild:
        """Return the build of llama-cpp-python: iterate for progress events, `cancel()` from any thread."""
        return device.build_device_support()

    def sql(self, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return columns and rows of a read-only query over the documented views."""
        self.refresh()
        self._gathered()
        return self._database.query(query)

    def doctor(self) -> tuple[Check, ...]:
        """Look at everything the planner needs and say what is wrong and how to mend it."""
        today = date.today()
        return (
            *doctor.machine_checks(),
            doctor.folder_check("data folder", self.folders.data),
            doctor.folder_check("config folder", self.folders.config),
            doctor.disk_check(self.folders.data),
            doctor.guarded("database", self._check_database),
            doctor.guarded("profiles", self._check_profiles),
            doctor.guarded("API prices", lambda: self._check_prices(today)),
        )

    @property
    def _workload_folder(self) -> Path:
        return self.shipped / "workloads"

    def _gathered(self) -> Sources:
        if self._sources is None:
            prices = PriceSource(installed_version(), api_prices)
            self._sources = gather(self._database, self.folders, self.shipped, prices)
        return self._sources

    def _resolved(self, kind: str, name: str) -> str:
        """Return the id behind an alias; kinds without aliases have ids only."""
        library = self.library()
        match find_kind(kind).name:
            case "hardware":
                return library.find_hardware(name).id
            case "models":
                return library.find_model(name).id
            case "engines":
                return library.find_engine(name).id
            case _:
                return name

    def _check_database(self) -> Check:
        self._database.prepare()
        count = len(self._database.probes()[0])
        return Check("database", "ok", f"{self._database.path}, {count} probe records")

    def _check_profiles(self) -> Check:
        self.refresh()
        library, warnings = self.library(), self.warnings()
        detail = (
            f"{len(library.hardware)} devices, {len(library.models)} models, {len(library.engines)} engines, "
            f"{len(library.clouds)} cloud offers, {len(self.overrides())} overridden fields"
        )
        if warnings:
            return Check("profiles", "warn", detail, warnings[0])
        return Check("profiles", "ok", detail)

    def _check_prices(self, today: date) -> Check:
        prices = [price for price in self.library().prices if price.origin == "genai-prices"]
        newest = max((price.as_of for price in prices), default=None)
        if newest is None:
            return Check("API prices", "fail", "no API prices", "Reinstall genai-prices.")
        return doctor.prices_check(installed_version(), newest, len(prices), today)
