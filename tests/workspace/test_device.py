from __future__ import annotations

import sys
from collections import deque
from pathlib import Path

import pytest

from planner.domain.errors import EnvironmentFault
from planner.workspace import device


@pytest.mark.parametrize(
    ("line", "fraction"),
    [
        ("DEBUG [30/120] Building CXX object src/a.cpp.o", 0.25),
        ("  [ 42%] Building C object ggml.c.o", 0.42),
        ("*** Building project with Ninja...", None),
        ("[3/0] odd", None),
    ],
)
def test_build_output_is_understood(line: str, fraction: float | None) -> None:
    assert device.build_fraction(line) == fraction


def support(command: list[str]) -> device.DeviceSupport:
    return device.DeviceSupport(False, None, "/usr/bin/c++", tuple(command), (4.0, 12.0), "")


def test_a_build_streams_progress_and_ends_with_its_state(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import os; print('[1/4] a'); print('noise'); print('[4/4] b', os.environ['CMAKE_ARGS'])"
    states = iter([support([sys.executable, "-c", code]), device.DeviceSupport(True, "1", None, (), (1, 2), "")])
    monkeypatch.setattr(device, "device_support", lambda: next(states))
    events = list(device.build_device_support())
    assert [event["event"] for event in events] == ["progress"] * 3 + ["done"]
    assert [event.get("fraction") for event in events[:3]] == [None, 0.25, 1.0]
    assert events[0]["estimate_s"] == 8 * 60  # midway between 4 and 12 minutes
    assert "LLAVA_BUILD=OFF" in events[2]["text"]


def test_a_failed_build_quotes_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "print('x.cpp:1: fatal error: no stdio.h'); print('make: gave up'); raise SystemExit(1)"
    monkeypatch.setattr(device, "device_support", lambda: support([sys.executable, "-c", code]))
    with pytest.raises(EnvironmentFault, match="fatal error: no stdio"):
        list(device.build_device_support())


def test_cancelling_ends_the_build_and_its_events(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = f"import time; print('[1/9] x', flush=True); time.sleep(60); open({str(tmp_path / 'late')!r}, 'w')"
    monkeypatch.setattr(device, "device_support", lambda: support([sys.executable, "-c", code]))
    started: list[object] = []
    real = device._start
    monkeypatch.setattr(device, "_start", lambda command: started.append(real(command)) or started[-1])
    build = device.build_device_support()
    events = iter(build)
    next(events)
    next(events)
    build.cancel()
    assert list(events) == []
    assert started[0].poll() is not None  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("system", "release", "words"),
    [
        ("Linux", "ID=ubuntu\nID_LIKE=debian\n", "build-essential"),
        ("Linux", 'ID=rocky\nID_LIKE="rhel centos fedora"\n', "gcc-c++"),
        ("Linux", "ID=unheard\n", "g++"),
        ("Darwin", "", "xcode-select --install"),
        ("Windows", "", "Visual Studio Build Tools"),
    ],
)
def test_the_missing_compiler_is_named_for_each_system(
    monkeypatch: pytest.MonkeyPatch, system: str, release: str, words: str
) -> None:
    monkeypatch.setattr("platform.system", lambda: system)
    real = Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda self, *a, **k: release if str(self) == "/etc/os-release" else real(self, *a, **k)
    )
    assert words in device.compiler_advice()


def test_without_a_compiler_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    none = device.DeviceSupport(False, None, None, ("x",), (1, 2), "Install a compiler.")
    monkeypatch.setattr(device, "device_support", lambda: none)
    with pytest.raises(EnvironmentFault, match="Install a compiler"):
        list(device.build_device_support())


def test_the_installer_is_uv_else_pip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    uv = tmp_path / "uv"
    uv.touch()
    monkeypatch.setenv("UV", str(uv))
    command = device.install_command()
    assert command[:3] == (str(uv), "pip", "install")
    assert command[command.index("--python") + 1] == sys.executable
    assert command[-1].startswith("llama-cpp-python")
    monkeypatch.delenv("UV")
    monkeypatch.setattr("shutil.which", lambda name: None)
    present = {"pip"}
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if name in present else None)
    monkeypatch.setattr(device, "_externally_managed", lambda: False)
    assert device.install_command()[:3] == (sys.executable, "-m", "pip")
    monkeypatch.setattr(device, "_externally_managed", lambda: True)
    assert device.install_command() == ()


def test_the_line_that_says_most_is_quoted() -> None:
    assert device.build_error(deque(["a: error: b", "CMake Error: no compiler", "later"])) == "CMake Error: no compiler"
    assert device.build_error(deque()) == "it gave no reason."
