"""`planner estimate` by flags and by table."""

import csv
import io
import json

import pytest

from planner.cli.estimate_columns import COLUMNS, KIND_NAMES, NAMES, layers, switch, whole
from planner.cli.estimate_query import Reader
from planner.domain.errors import InputError
from planner.performance.estimate import KINDS
from planner.workspace import Workspace

CARD = ("--hardware", "rtx-3090", "--model", "gemma-3-27b", "--quant", "q4_k_m", "--engine", "llama.cpp")
CONTRACT = (
    "hardware, count, parallel, model, quant, kv_quant, file_gib, engine, engine_version, backend, kind, context, "
    "prompt, output, concurrency, request_rate, cached_prefix, gpu_layers, cpu_experts_layers, "
    "host_memory_bandwidth_gb_s, flash_attention, speculative"
)


@pytest.fixture(scope="module")
def reader(home):
    return Reader(Workspace(home).library())


def cells(**more):
    return {"hardware": "rtx-3090", "model": "gemma-3-27b", "quant": "q4_k_m", "kind": "decode", **more}


def answered(child, text, *flags):
    done = child("estimate", "--csv", "-", *flags, text_in=text)
    return done, list(csv.DictReader(io.StringIO(done.stdout)))


def test_the_columns_are_those_of_the_contract():
    assert ", ".join(NAMES) == CONTRACT
    assert COLUMNS[-3].flag == "--host-memory-bandwidth-gb-s"


def test_help_names_every_kind_that_the_estimator_knows():
    assert KIND_NAMES == KINDS


def test_a_speed_carries_its_axes_interval_and_basis(planner):
    code, out, err = planner("estimate", *CARD, "--kind", "decode", "--context", "4000", "--json")
    figure = json.loads(out)
    assert (code, err) == (0, "")
    assert (figure["kind"], figure["unit"]) == ("decode_per_request", "tok/s")
    assert figure["axes"]["context_tokens"] == 4000
    assert figure["axes"]["model"] == "gemma-3-27b"
    assert figure["axes"]["hardware"] == "rtx-3090"
    assert figure["low"] < figure["value"] < figure["high"]
    assert figure["basis"] in {"estimated", "published"}
    # Every token reads the weights: 936 GB/s over about 16 GB of them is a ceiling of about 60 tok/s.
    assert figure["value"] < 936 / 14


def test_text_says_value_interval_setup_and_source(planner):
    code, out, _ = planner("estimate", *CARD, "--kind", "prefill", "--prompt", "2000")
    assert code == 0
    assert out.startswith("prefill: ")
    assert "80 % between" in out
    assert "gemma-3-27b q4_k_m on 1× rtx-3090 with llama.cpp" in out
    assert "prompt tokens 2,000" in out


def test_an_explanation_names_its_terms_and_ends_at_the_same_figure(planner):
    _, plain, _ = planner("estimate", *CARD, "--kind", "decode", "--json")
    code, out, err = planner("estimate", *CARD, "--kind", "decode", "--json", "--explain")
    explained = json.loads(out)
    assert (code, err) == (0, "")
    assert {key: explained[key] for key in json.loads(plain)} == json.loads(plain)
    assert explained["explanation"]["formula"]
    assert explained["explanation"]["inputs"]
    _, text, _ = planner("estimate", *CARD, "--kind", "decode", "--explain")
    assert "formula" in text


@pytest.mark.parametrize(("hardware", "fits"), [("rtx-3090", True), ("arc-b580", False)])
def test_fits_is_true_or_false(planner, hardware, fits):
    # 27.4 G weights at 4.89 bits are 15.6 GiB: within 24 GiB, not within 12.
    flags = ("--hardware", hardware, "--model", "gemma-3-27b", "--quant", "q4_k_m", "--engine", "llama.cpp")
    code, out, err = planner("estimate", *flags, "--kind", "fits", "--gpu-layers", "62", "--json")
    assert code == 0, err
    assert json.loads(out)["value"] is fits


def test_an_estimate_that_cannot_be_made_is_no_answer(planner):
    flags = ("--hardware", "rtx-3090", "--model", "gpt-oss-120b", "--quant", "bf16", "--engine", "vllm")
    code, out, err = planner("estimate", *flags, "--kind", "decode")
    assert (code, out) == (1, "")
    assert err.startswith("planner: error: ")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ((*CARD, "--kind", "decod"), "'decode'"),
        ((*CARD,), "--kind is needed"),
        ((*CARD, "--kind", "decode", "--count", "two"), "count: 'two' is not a whole number"),
        ((*CARD, "--kind", "decode", "--count", "0"), "count: 0"),
        ((*CARD, "--kind", "decode", "--file-gib", "nan"), "file_gib: 'nan' is not a number above 0"),
        ((*CARD, "--kind", "decode", "--parallel", "tensors"), "parallel"),
        ((*CARD, "--kind", "decode", "--kv-quant", "q99"), "q99"),
        (("--hardware", "rtx-3091", "--model", "gemma-3-27b", "--kind", "fits"), "'rtx-3090'"),
        (("--csv", "x.csv", "--kind", "decode"), "--csv and --kind"),
        (("--csv", "no-such-file.csv"), "no-such-file.csv"),
        (("--csv", "."), "folder"),
    ],
)
def test_wrong_input_is_named_with_the_way_out(planner, flags, words):
    code, out, err = planner("estimate", *flags)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_a_table_comes_back_with_all_columns_and_answers_in_order(child):
    text = (
        "quant,hardware,model,engine,kind,context\n"
        "q4_k_m,rtx-3090,gemma-3-27b,llama.cpp,decode,0\n"
        "q4_k_m,no-such-card,gemma-3-27b,llama.cpp,decode,0\n"
        '"q4_k_m","rtx-3090",gemma-3-27b,llama.cpp,fits,1000\n'
        "\n"
        "q4_k_m,rtx-3090,gemma-3-27b,llama.cpp,weights,\n"
    )
    done, rows = answered(child, text)
    assert (done.returncode, done.stderr) == (0, "")
    head = done.stdout.splitlines()[0]
    assert head == "quant,hardware,model,engine,kind,context,value,low,high,unit,basis,reason"
    assert [row["kind"] for row in rows] == ["decode", "decode", "fits", "weights"]
    assert float(rows[0]["low"]) < float(rows[0]["value"]) < float(rows[0]["high"])
    assert rows[0]["unit"] == "tok/s"
    assert rows[1]["value"] == ""
    assert "no-such-card" in rows[1]["reason"]
    assert rows[2]["value"] == "true"
    # 27.4 G weights of 4.89 bits = 15.6 GiB; the mix of a given file may differ by a tenth.
    assert float(rows[3]["value"]) == pytest.approx(15.6, rel=0.1)


def test_flags_and_table_give_the_same_number(child, planner):
    _, rows = answered(child, "hardware,model,quant,engine,kind\nrtx-3090,gemma-3-27b,q4_k_m,llama.cpp,decode\n")
    _, out, _ = planner("estimate", *CARD, "--kind", "decode", "--json")
    assert float(rows[0]["value"]) == json.loads(out)["value"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hardware,model,kind,contxt\n", "'context'"),
        ("hardware,model\n", "'kind' is missing"),
        ("hardware,model,kind,kind\n", "twice"),
        ("", "is empty"),
        ("hardware,model,kind\na,b,c,d\n", "4 cells"),
        ("hardware,model,kind\n" + "x" * 200_000 + "\n", "field larger"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(child, text, words):
    done, _ = answered(child, text)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_table_with_a_byte_order_mark_is_read(child):
    done, rows = answered(child, "\ufeffhardware,model,quant,kind\nrtx-3090,gemma-3-27b,q4_k_m,fits\n")
    assert done.returncode == 0
    assert rows[0]["value"] == "true"


def test_empty_cells_take_the_defaults(reader):
    query = reader.read(cells(count="", kv_quant="", concurrency=""))
    assert (query.setup.count, query.setup.kv_quant, query.setup.gpu_layers) == (1, "f16", None)
    assert query.setup.engine.id == "llama.cpp"
    assert query.kind == "decode_per_request"
    assert query.conditions == {}


@pytest.mark.parametrize(
    ("hardware", "quant", "engine"),
    [
        ("rtx-3090", "q4_k_m", "llama.cpp"), ("h100-sxm", "bf16", "vllm"), ("h100-sxm", "fp8", "vllm"),
        ("m2-ultra-76", "mlx-4bit", "mlx"),
    ],
)  # fmt: skip
def test_an_empty_engine_means_the_usual_one(reader, hardware, quant, engine):
    if hardware not in reader.library.hardware:
        hardware = next(item.id for item in reader.library.hardware.values() if item.vendor == "apple")
    assert reader.read(cells(hardware=hardware, quant=quant)).setup.engine.id == engine


def test_equal_setups_are_one_object_whatever_is_asked(reader):
    first, second = reader.read(cells(kind="decode")), reader.read(cells(kind="kv", context="100"))
    assert first.setup is second.setup
    assert reader.read(cells(count="2")).setup is not first.setup


def test_cells_are_read_as_people_write_them():
    assert whole("4096.0") == 4096
    assert layers("-1") is None
    assert [switch(text) for text in ("on", "0", "auto")] == [True, False, None]
    for reading, text in ((whole, "1.5"), (whole, "-1"), (switch, "maybe")):
        with pytest.raises(ValueError):
            reading(text)


def test_a_missing_cell_names_the_column(reader):
    with pytest.raises(InputError, match="model is empty"):
        reader.read(cells(model=" "))
