from planner.domain.figures import Axes, Basis, Speed, unknown_speed
from planner.domain.probe import Measure, ProbeEngine, ProbeModel, ProbeRecord
from planner.report import probe
from planner.report.safe import width


def axes(context=0, **more):
    return Axes(context_tokens=context, model="m", quant="q4_k_m", engine="llama.cpp", hardware="local", **more)


def speed(value, context, kind="decode_per_request"):
    label = {"basis": Basis.MEASURED, "source": "device probe"}
    return Speed(value=value, low=value - 1, high=value + 1, kind=kind, axes=axes(context), **label)


def record(figures, **more):
    fields = {
        "id": "device-1", "kind": "device", "started_at": "2026-12-01T10:00:00Z", "status": "complete",
        "finished_at": "2026-12-01T10:00:40Z", "ended_by": "precision", "tool_version": "0", "environment": {},
        "hardware": "local", "model": ProbeModel(id="m", quant="q4_k_m"), "engine": ProbeEngine(name="llama.cpp"),
    }  # fmt: skip
    return ProbeRecord(**{**fields, "figures": tuple(figures), **more})


def test_figures_are_in_order_with_their_conditions_and_interval():
    bandwidth = Measure(value=20.5, unit="GB/s", kind="memory_read_bandwidth", threads=2, basis="measured", source="p")
    lines = probe.render(record([bandwidth, speed(20.0, 1024), speed(42.5, 0)])).splitlines()
    rows = [" ".join(line.split()) for line in lines]
    first = rows.index("decode per request context 0 42.5 41.5–43.5 tok/s")
    assert rows[first + 1] == "decode per request context 1,024 20 19–21 tok/s"
    assert rows[first + 2] == "memory read bandwidth 2 threads 20.5 GB/s"


def test_an_unknown_figure_has_its_reason_below_the_table():
    lost = unknown_speed("prefill", axes(prompt_tokens=512), Basis.MEASURED, "the time was up")
    busy = {"warnings": [{"message": "busy machine"}]}
    shown = probe.render(record([lost], errors=("it broke",), settings=busy))
    assert "prefill: the time was up" in shown
    assert "it broke" in shown
    assert "busy machine" in shown
    assert "busy machine" not in probe.render(record([lost], settings=busy), 80, warnings=False)


def test_the_list_shows_the_speed_at_the_shallowest_depth():
    shown = probe.listing([record([speed(20.0, 1024), speed(42.5, 0), speed(999.0, 0, "prefill")])])
    assert shown.splitlines()[-1].split()[-1] == "42.5"


def test_the_list_keeps_ids_whole_and_foreign_names_harmless():
    hostile = record([speed(1.5, 0)], id="device-20261201T101010Z-abcdef", model=ProbeModel(id="\x1b[31m" + "長" * 300))
    shown = probe.listing([hostile])
    assert "device-20261201T101010Z-abcdef" in shown
    assert "\x1b" not in shown
    assert max(width(line) for line in shown.splitlines()) <= 80
