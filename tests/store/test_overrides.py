from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from planner.domain.errors import EnvironmentFault, InputError
from planner.domain.workload import Workload
from planner.store import files
from planner.store.kinds import find_kind
from planner.store.overrides import clear_override, find_profile, override, overrides_of
from planner.store.profiles import Profile, load
from planner.store.workload_files import workload_toml


@pytest.fixture
def user(tmp_path: Path) -> Path:
    return tmp_path / "user"


def get(shipped: Path, user: Path, kind: str, profile_id: str) -> Profile:
    return find_profile(load(shipped, user, ()), find_kind(kind), profile_id)


def test_an_override_is_one_line_that_keeps_comments(shipped: Path, user: Path) -> None:
    path = override(user, get(shipped, user, "hardware", "gpu-a"), "tdp_w", 300)
    assert tomllib.loads(path.read_text()) == {"tdp_w": 300}
    path.write_text("# measured at the wall\n" + path.read_text())
    override(user, get(shipped, user, "hardware", "gpu-a"), "memory_gb", 48)
    assert path.read_text().startswith("# measured at the wall\ntdp_w = 300\n")
    found = get(shipped, user, "hardware", "gpu-a")
    assert found.value.tdp_w == 300  # type: ignore[attr-defined]
    told = overrides_of(load(shipped, user, ()))
    assert [(item.kind, item.id, item.field, item.value) for item in told] == [
        ("hardware", "gpu-a", "tdp_w", 300), ("hardware", "gpu-a", "memory_gb", 48),
    ]  # fmt: skip


def test_clearing_the_last_override_removes_the_file(shipped: Path, user: Path) -> None:
    path = override(user, get(shipped, user, "gpu", "gpu-a"), "tdp_w", 300)
    clear_override(user, get(shipped, user, "gpu", "gpu-a"), "tdp_w")
    assert not path.exists()
    assert get(shipped, user, "gpu", "gpu-a").value.tdp_w == 350  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="not overridden"):
        clear_override(user, get(shipped, user, "gpu", "gpu-a"), "tdp_w")


@pytest.mark.parametrize(
    ("kind", "profile_id", "field", "value"),
    [
        ("price", "deepinfra/Maker/M-7B-Instruct", "output_usd_per_mtok", 0.2),
        ("cloud", "rent/a.1/on-demand", "usd_per_hour", 0.75),
        ("assumption", "host_price_usd", "value", 2500),
        ("tariff", "us", "business_usd_per_kwh", 0.2),
        ("engine", "eng", "max_batch", 64),
    ],
)
def test_list_kinds_are_overridden_by_their_keys(
    shipped: Path, user: Path, kind: str, profile_id: str, field: str, value: float
) -> None:
    before = get(shipped, user, kind, profile_id)
    override(user, before, field, value)
    after = get(shipped, user, kind, profile_id)
    assert getattr(after.value, field) == value
    assert after.origin == "user"
    same = before.value.model_dump(exclude={field, "origin"})
    assert after.value.model_dump(exclude={field, "origin"}) == same
    clear_override(user, after, field)
    assert getattr(get(shipped, user, kind, profile_id).value, field) == getattr(before.value, field)
    assert list(user.rglob("*.toml")) == []


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [("tdpw", 1, "'tdp_w'"), ("tdp_w", "hot", "tdp_w"), ("tdp_w", -5, "negative"), ("id", "x", "cannot|no field")],
)
def test_nothing_wrong_is_written(shipped: Path, user: Path, field: str, value: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        override(user, get(shipped, user, "hardware", "gpu-a"), field, value)
    assert not user.exists()


def test_an_id_never_leaves_the_folder(shipped: Path, user: Path) -> None:
    found = get(shipped, user, "hardware", "gpu-a")
    evil = Profile("hardware", "../../evil", found.value, "shipped")
    with pytest.raises(InputError, match="cannot be the name"):
        override(user, evil, "tdp_w", 1)


def test_unknown_kinds_and_ids_are_answered_with_the_nearest(shipped: Path, user: Path) -> None:
    with pytest.raises(InputError, match="'hardware'"):
        find_kind("hardwear")
    with pytest.raises(InputError, match="'gpu-a'"):
        get(shipped, user, "hardware", "gpu-b")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.toml"
    files.write_atomically(path, "old = 1\n")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(EnvironmentFault, match="disk is full"):
        files.write_atomically(path, "new = 2\n")
    assert path.read_text() == "old = 1\n"
    assert [item.name for item in tmp_path.iterdir()] == ["x.toml"]


def test_a_saved_workload_reads_back_and_keeps_comments(shipped: Path) -> None:
    path = shipped / "workloads/tiny.toml"
    workload = Workload.model_validate(files.read_toml(path))
    demand = workload.demand.model_copy(update={"users": 60.0})
    changed = Workload.model_validate(
        {**workload.model_dump(by_alias=True, exclude_unset=True), "demand": demand.model_dump(), "title": "Tiny"}
    )
    text = workload_toml(changed, path)
    assert "# A team and its model." in text
    assert "# people" in text
    path.write_text(text)
    again = Workload.model_validate(files.read_toml(path))
    assert again == changed
