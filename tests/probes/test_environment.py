from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.domain.errors import InputError
from probes import gpus
from probes.cases import choose_depths, choose_prompts
from probes.device_options import DeviceOptions
from probes.model_file import check_memory, open_model
from probes.processors import cgroup_cpus, physical_cores
from probes.session import RefusalError
from tests.domain.test_gguf import GOOD
from tests.probes.harness import run_here


def test_machine_facts_name_no_host():
    out = run_here("machine")
    facts = out.record.environment
    assert out.code == 0 and facts["logical_cpus"] >= 1 and facts["os"]
    assert not any("host" in key or "user" in key for key in facts)


def test_cores_behind_hardware_threads(tmp_path):
    for cpu, (package, core) in enumerate([(0, 0), (0, 1), (0, 0), (0, 1)]):
        folder = tmp_path / f"cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(str(package))
        (folder / "core_id").write_text(str(core))
    assert physical_cores((0, 1, 2, 3), tmp_path) == 2
    assert physical_cores((0, 2), tmp_path) == 1


def test_container_quota(tmp_path):
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    assert cgroup_cpus(tmp_path) == 1.5
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert cgroup_cpus(tmp_path) is None


def test_vendor_tools_are_read():
    lines = "NVIDIA H200, 143771, 143166, 570.86.15, 700.00, 31, 345, 3201, 0, Enabled\n"
    first, second = gpus.parse_nvidia(lines + "X, 1, 1, 5, [N/A], 1, 1, 1, [N/A], D")
    assert (first["name"], first["memory_total_mib"], first["driver"]) == ("NVIDIA H200", 143771, "570.86.15")
    assert second["power_limit_w"] is None and second["utilisation_percent"] is None
    text = json.dumps(
        {
            "card0": {
                "Card Series": "MI300X",
                "VRAM Total Memory (B)": "1048576",
                "VRAM Total Used Memory (B)": "524288",
            },
            "system": {"Driver version": "6.10"},
        }
    )
    assert gpus.parse_amd(text) == [
        {"vendor": "amd", "name": "MI300X", "memory_total_mib": 1.0, "memory_free_mib": 0.5, "driver": "6.10"}
    ]
    assert gpus.parse_amd("not json") == [] and gpus.parse_nvidia("Failed") == []


def test_sizes_follow_speed_and_time():
    # A quarter of 40 s is 10 s; six prompts of 512 at 400 tok/s take 7.7 s, of 2048 30.7 s.
    assert choose_prompts(400, 40, None) == (128, 512)
    assert choose_prompts(400, 40, 300) == (32, 128)
    # A fifth of 40 s is 8 s; 1.5 * 2048 / 400 = 7.7 s. The model's context bounds it, with room for the steps.
    assert choose_depths(400, 40, None) == (0, 2048)
    assert choose_depths(1e6, 40, 2048) == (0, 1024)


def test_a_model_that_does_not_fit_is_refused_with_sizes(tmp_path):
    path = tmp_path / "tiny.gguf"
    path.write_bytes(GOOD)
    model = open_model(path)
    sizes = {"tokens": 512, "kv_quant": "f16", "gpu_bytes": None, "gpu_share": 0.0}
    # KV: 2 * 2 layers * 2 heads * 64 * 512 tokens * 2 bytes = 524288.
    assert model.kv_bytes(512, "f16") == 524_288
    check_memory(model, host_bytes=2**30, **sizes)
    with pytest.raises(RefusalError, match=r"needs 0\.3 GiB of memory, 0\.1 GiB are free") as caught:
        check_memory(model, host_bytes=2**27, **sizes)
    assert caught.value.details["available_gib"] == 0.12


def test_split_models(tmp_path):
    first, second = (tmp_path / f"m-0000{part}-of-00002.gguf" for part in (1, 2))
    first.write_bytes(GOOD)
    with pytest.raises(InputError, match="00002-of-00002"):
        open_model(first)
    second.write_bytes(GOOD)
    assert open_model(first).n_bytes == 2 * len(GOOD)
    with pytest.raises(InputError, match="later part"):
        open_model(second)


def test_the_memory_bandwidth_has_its_time_within_the_cap():
    options = DeviceOptions(Path("m.gguf"), max_seconds=40.0)
    assert options.model_seconds == 36.0
    assert DeviceOptions(Path("m.gguf"), max_seconds=10.0).model_seconds == 8.0
    assert DeviceOptions(Path("m.gguf"), max_seconds=10.0, machine=False).model_seconds == 10.0
