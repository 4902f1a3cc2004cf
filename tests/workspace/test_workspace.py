from __future__ import annotations

from pathlib import Path

import pytest

from planner.domain.errors import EnvironmentFault, InputError
from planner.workspace import Workspace
from planner.workspace.local import Seen, local_hardware
from planner.workspace.models import with_probed_models
from tests.store.records import record


@pytest.fixture
def workspace(home: Path, shipped: Path) -> Workspace:
    return Workspace(home, shipped=shipped)


def test_the_library_has_shipped_profiles_prices_and_this_machine(workspace: Workspace) -> None:
    library = workspace.library()
    assert library.find_hardware("A24").id == "gpu-a"
    assert library.find_hardware("local").kind == "cpu"
    assert any(price.key == "openai/gpt-6-sol" for price in library.prices)
    assert workspace.library() is library


def test_planner_home_moves_everything(tmp_path: Path, shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_HOME", str(tmp_path / "elsewhere"))
    workspace = Workspace(shipped=shipped)
    workspace.override("hardware", "gpu-a", "tdp_w", 300)
    workspace.library()
    assert (tmp_path / "elsewhere/planner.duckdb").is_file()
    assert (tmp_path / "elsewhere/profiles/hardware/gpu-a.toml").is_file()


def test_a_home_that_cannot_hold_a_database_costs_a_warning_only(tmp_path: Path, shipped: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    workspace = Workspace(tmp_path / "file", shipped=shipped)
    assert "gpu-a" in workspace.library().hardware
    assert any("cannot be written" in warning for warning in workspace.warnings())
    with pytest.raises(EnvironmentFault, match="cannot be written"):
        workspace.store_probe(record())


def test_a_dangling_link_among_the_profiles_is_named(workspace: Workspace, home: Path) -> None:
    path = home / "profiles/hardware/gone.toml"
    path.parent.mkdir(parents=True)
    path.symlink_to(home / "nowhere.toml")
    with pytest.raises(InputError, match=r"gone\.toml does not exist"):
        workspace.library()


def test_an_override_by_alias_shows_at_once_and_goes(workspace: Workspace) -> None:
    workspace.override("hardware", "A24", "tdp_w", 300)
    assert workspace.library().hardware["gpu-a"].tdp_w == 300
    assert [(item.field, item.value) for item in workspace.overrides()] == [("tdp_w", 300)]
    assert workspace.profile_path("hardware", "gpu-a").read_text() == "tdp_w = 300\n"
    workspace.clear_override("hardware", "gpu-a", "tdp_w")
    assert workspace.library().hardware["gpu-a"].tdp_w == 350
    assert workspace.overrides() == ()


def test_records_reach_the_library_and_the_local_machine(workspace: Workspace) -> None:
    workspace.store_probe(record())
    library = workspace.library()
    assert [item.id for item in library.probes] == ["device-1"]
    assert library.hardware["local"].memory_bandwidth_gb_s == 38.0  # its GB/s figure
    assert library.hardware["local"].as_of == "2026-12-01"
    assert workspace.probe("device").id == "device-1"
    with pytest.raises(InputError, match="'device-1'"):
        workspace.probe("device-2")


def test_this_machine_without_a_probe_has_no_invented_numbers() -> None:
    here = local_hardware(Seen(cpu="X", memory_gib=None, system="S"), (), "2026-12-01")
    assert (here.memory_gb, here.memory_bandwidth_gb_s, here.fp16_dense_tflops, here.tdp_w) == (None,) * 4


def test_a_probed_file_without_a_profile_becomes_a_model(workspace: Workspace) -> None:
    facts = {"layers": 30, "hidden_size": 576, "kv_heads": 3, "head_dim": 64, "params": 134_515_008, "quant": "q4_1"}
    model = {"id": "smollm2-135m", "file": "/x/SmolLM2.gguf", "facts": facts}
    workspace.store_probe(record(model=model))
    found = workspace.library().find_model("SmolLM2")
    assert (found.id, found.layers, found.params_total_b) == ("smollm2-135m", 30, 0.134515008)
    workspace.store_probe(record("device-2", model={"id": "odd", "facts": {"layers": 3}}))
    assert "odd" not in workspace.library().models
    assert with_probed_models(workspace.library()).models.keys() == workspace.library().models.keys()


def test_the_last_workload_is_remembered(workspace: Workspace, home: Path, shipped: Path) -> None:
    assert workspace.last_workload() is None
    workspace.remember_workload(Path("some/w.toml"))
    assert Workspace(home, shipped=shipped).last_workload() == "some/w.toml"


def test_a_damaged_database_fails_reading_and_is_told_by_the_doctor(workspace: Workspace, home: Path) -> None:
    home.mkdir()
    (home / "planner.duckdb").write_bytes(b"garbage" * 100)
    with pytest.raises(EnvironmentFault, match=r"planner\.duckdb"):
        workspace.library()
    checks = {check.name: check for check in workspace.doctor()}
    assert checks["database"].status == "fail"
    assert "mv " in checks["database"].hint
    workspace.remember_workload("x")  # a convenience never fails


def test_the_doctor_of_a_sound_workspace_has_no_failure(workspace: Workspace) -> None:
    checks = workspace.doctor()
    assert {check.name for check in checks} >= {"Python", "database", "profiles", "API prices", "disk space"}
    assert [check for check in checks if check.status == "fail"] == []
    assert all(check.hint for check in checks if check.status != "ok")


def test_the_doctor_names_a_wrong_profile(workspace: Workspace, home: Path) -> None:
    path = home / "profiles/hardware/gpu-a.toml"
    path.parent.mkdir(parents=True)
    path.write_text("tdpw = 1")
    checks = {check.name: check for check in workspace.doctor()}
    assert checks["profiles"].status == "fail"
    assert "'tdp_w'" in checks["profiles"].hint


def test_sql_sees_profiles_without_a_library_first(workspace: Workspace) -> None:
    columns, rows = workspace.sql("SELECT id, memory_gb FROM v_hardware")
    assert (columns, rows) == (["id", "memory_gb"], [("gpu-a", 24.0)])


def test_the_shipped_profiles_all_load(home: Path) -> None:
    workspace = Workspace(home)
    library = workspace.library()
    assert len(library.hardware) > 50 and len(library.models) > 60 and len(library.clouds) > 100
    assert workspace.warnings() == ()
    for name in workspace.workload_names():
        workload = workspace.load_workload(name)
        path = home / "saved.toml"
        workspace.save_workload(workload, path)
        assert workspace.load_workload(path) == workload
