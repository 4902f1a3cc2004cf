from __future__ import annotations

from pathlib import Path

import pytest

from planner.domain.errors import InputError
from planner.workspace import Workspace


@pytest.fixture
def workspace(home: Path, shipped: Path) -> Workspace:
    return Workspace(home, shipped=shipped)


def file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_by_shipped_name_by_path_and_by_the_readmes_path(workspace: Workspace, shipped: Path) -> None:
    for name in ("tiny", "tiny.toml", str(shipped / "workloads/tiny.toml"), "profiles/workloads/tiny.toml"):
        assert workspace.load_workload(name).name == "tiny"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("users = 5", "userz = 5"), ["mine.toml", "demand.userz", "'users'"]),
        (("users = 5", 'users = "many"'), ["demand.users", "'many'"]),
        (("users = 5", "users = -5"), ["demand.users"]),
        (("share = 1.0", "share = 0.5"), ["add up to 1"]),
        (('"m-7b"', '"m-7c"'), ["mix.0.model", "'m-7c'", "'m-7b'"]),
        (('schema = "planner.workload/1"', 'schema = "planner.workload/2"'), ["schema", "planner.workload/1"]),
        (("[demand]", '[constraints]\nengines = ["engin"]\n[demand]'), ["constraints.engines.0", "'eng"]),
        (("[demand]", '[constraints]\nhardware = ["gpu-x"]\n[demand]'), ["constraints.hardware.0", "'gpu-a'"]),
        (("[demand]", '[money]\ncountry = "uz"\n[demand]'), ["money.country", "tariff"]),
        (("[[mix]]", "[[mix]]\n[[mix]]"), ["mix.0"]),
    ],
)
def test_wrong_files_name_key_and_nearest(
    workspace: Workspace, shipped: Path, tmp_path: Path, change: tuple[str, str], words: list[str]
) -> None:
    text = (shipped / "workloads/tiny.toml").read_text()
    assert change[0] in text
    with pytest.raises(InputError) as caught:
        workspace.load_workload(file(tmp_path, text.replace(*change)))
    for word in words:
        assert word in str(caught.value)


def test_names_nobody_knows(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'tiny'"):
        workspace.load_workload("tinny")
    with pytest.raises(InputError, match="folder"):
        workspace.load_workload(tmp_path)
    for name in ("a\0b", "", "x" * 5000, "/dev/null"):
        with pytest.raises(InputError):
            workspace.load_workload(name)


def test_binary_and_huge_files(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(InputError, match=r"mine\.toml is not UTF-8"):
        workspace.load_workload(path)
    path.write_text("# " + "x" * 3_000_000)
    with pytest.raises(InputError, match="a workload may have at most"):
        workspace.load_workload(path)


def test_inline_profiles_win_and_are_checked(workspace: Workspace, shipped: Path, tmp_path: Path) -> None:
    text = (shipped / "workloads/tiny.toml").read_text().replace('"m-7b"', '"own"')
    model = (shipped / "models/m-7b.toml").read_text().replace('"m-7b"', '"own"')
    path = file(tmp_path, f"{text}\n[[profiles.models]]\n{model}")
    workload = workspace.load_workload(path)
    assert workspace.library_for(workload).find_model("own").layers == 32
    path.write_text(f"{text}\n[[profiles.models]]\n{model.replace('layers = 32', 'layers = 0', 1)}")
    with pytest.raises(InputError, match=r"profiles\.models\.0\.layers"):
        workspace.load_workload(path)


def test_sets_change_single_keys(workspace: Workspace) -> None:
    workload = workspace.load_workload("tiny")
    changed = workspace.apply_sets(
        workload,
        ["demand.users=60", "money.horizon_months = 24", "mix.0.request.input_tokens=2000", "use_case=rag",
         "constraints.hardware=['gpu-a']", "constraints.data_may_leave=false"],
    )  # fmt: skip
    assert (changed.demand.users, changed.money.horizon_months, changed.use_case) == (60, 24, "rag")
    assert changed.mix[0].request is not None and changed.mix[0].request.input_tokens == 2000
    assert changed.constraints.hardware == ("gpu-a",) and not changed.constraints.data_may_leave
    assert changed.demand.requests_per_user_hour == 2
    assert workspace.apply_sets(workload, []) == workload


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("demand.userz=6", ["'users'", "--set demand.userz=6"]),
        ("demnd.users=6", ["'demand'"]),
        ("demand.users", ["key=value"]),
        ("=5", ["key=value"]),
        ("demand.users=many", ["demand.users", "'many'"]),
        ("mix.3.share=1", ["'3'"]),
        ("mix.x.share=1", ["'x'"]),
        ("mix.0.share=0.5", ["add up to 1"]),
        ("mix.0.model=m-7x", ["'m-7b'"]),
        ("demand.users.x=1", ["demand"]),
    ],
)
def test_wrong_sets_name_themselves(workspace: Workspace, setting: str, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        workspace.apply_sets(workspace.load_workload("tiny"), [setting])
    for word in words:
        assert word in str(caught.value)
