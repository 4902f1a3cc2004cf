from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.domain.errors import InputError
from planner.domain.prices import ApiPrice
from planner.store.library import library_from
from planner.store.profiles import load

GENAI = ApiPrice(
    provider="anthropic", channel="api", model="claude-sonnet-5", input_usd_per_mtok=2, output_usd_per_mtok=10,
    origin="genai-prices", source="genai-prices", as_of="2026-11-10",
)  # fmt: skip


def library(shipped: Path, user: Path, prices=(GENAI,)):
    return library_from(load(shipped, user, prices), ())[0]


def put(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_every_kind_is_loaded_and_the_fit_joins_its_engine(shipped: Path, tmp_path: Path) -> None:
    found = library(shipped, tmp_path / "none")
    assert found.hardware["gpu-a"].prices[0].usd == 1500
    assert found.hardware["gpu-a"].as_of == "2026-11-30"  # a TOML date
    assert found.engines["eng"].efficiencies[0].parameters == {"eb": 0.6}
    assert found.tariffs["us"].business_usd_per_kwh == 0.09
    assert found.assumptions["host_price_usd"].high == 4000
    assert [offer.key for offer in found.clouds] == ["rent/a.1/on-demand"]


@pytest.mark.parametrize("name", ["gpu-a", "GPU A 24GB", "gpu_a_24gb", "a24"])
def test_hardware_is_found_by_id_name_and_alias(shipped: Path, tmp_path: Path, name: str) -> None:
    assert library(shipped, tmp_path / "none").find_hardware(name).id == "gpu-a"


@pytest.mark.parametrize("name", ["m-7b", "Maker/M-7B-Instruct", "M-7B-Instruct"])
def test_models_are_found_by_repository(shipped: Path, tmp_path: Path, name: str) -> None:
    assert library(shipped, tmp_path / "none").find_model(name).id == "m-7b"


def test_an_alias_never_hides_an_id_and_is_reported(shipped: Path, tmp_path: Path) -> None:
    text = (shipped / "hardware/gpu-a.toml").read_text()
    put(shipped, "hardware/a24.toml", text.replace('"gpu-a"', '"a24"').replace('["A24"]', '["B24"]'))
    found, warnings = library_from(load(shipped, tmp_path / "none", ()), ())
    assert found.find_hardware("A24").id == "a24"
    assert any("'A24' of 'gpu-a' already means 'a24'" in warning for warning in warnings)


def test_genai_wins_and_the_overlay_fills_holes_only(shipped: Path, tmp_path: Path) -> None:
    prices = {price.key: price for price in library(shipped, tmp_path / "none").prices}
    sonnet = prices["anthropic/claude-sonnet-5"]
    assert (sonnet.input_usd_per_mtok, sonnet.output_usd_per_mtok) == (2, 10)
    assert (sonnet.origin, sonnet.as_of) == ("genai-prices", "2026-11-10")
    assert (sonnet.batch_window_hours, sonnet.retirement_date) == (24, "2027-06-01")
    assert prices["deepinfra/Maker/M-7B-Instruct"].origin == "overlay"


def test_a_user_file_overrides_single_fields(shipped: Path, tmp_path: Path) -> None:
    user = tmp_path / "user"
    put(user, "hardware/gpu-a.toml", "memory_gb = 48\n")
    put(
        user,
        "prices/mine.toml",
        '[[prices]]\nprovider = "anthropic"\nmodel = "claude-sonnet-5"\ninput_usd_per_mtok = 1.5\n',
    )
    put(user, "hardware/new.toml", (shipped / "hardware/gpu-a.toml").read_text().replace('"gpu-a"', '"new"'))
    found = library(shipped, user)
    assert found.hardware["gpu-a"].memory_gb == 48
    assert found.hardware["gpu-a"].tdp_w == 350
    assert "new" in found.hardware
    sonnet = next(price for price in found.prices if price.model == "claude-sonnet-5")
    assert (sonnet.input_usd_per_mtok, sonnet.output_usd_per_mtok, sonnet.origin) == (1.5, 10, "user")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("memory_gbb = 24", ["hardware/gpu-a.toml", "'memory_gbb'", "'memory_gb'"]),
        ('memory_gb = "lots"', ["gpu-a.toml", "memory_gb", "'lots'"]),
        ("memory_gb = -1", ["memory_gb", "negative"]),
        ("memory_bandwidth_gb_s = 0", ["memory_bandwidth_gb_s", "0"]),
        ("memory_gb = nan", ["memory_gb", "nan"]),
        ("memory_gb = inf", ["memory_gb", "inf"]),
        ("memory_gb = 1" + "0" * 400, ["memory_gb", "too large"]),
        ("memory_gb = " + "9" * 5000, ["gpu-a.toml"]),
        ("memory_gb = [1", ["not valid TOML"]),
        ("x = " + "[" * 5000, ["gpu-a.toml"]),
        ("prices = [{usd = 1, condition = 'new', source = 's', as_of = 'd', us = 2}]", ["prices.0.us", "'usd'"]),
    ],
)
def test_a_wrong_profile_is_named_with_its_key(shipped: Path, tmp_path: Path, text: str, words: list[str]) -> None:
    put(tmp_path / "user", "hardware/gpu-a.toml", text)
    with pytest.raises(InputError) as caught:
        library(shipped, tmp_path / "user")
    for word in words:
        assert word in str(caught.value)


def test_unknown_tables_missing_keys_and_free_prices_are_refused(shipped: Path, tmp_path: Path) -> None:
    user = tmp_path / "user"
    put(user, "prices/p.toml", "[[pricse]]\n")
    with pytest.raises(InputError, match=r"unknown key 'pricse'.*'prices'"):
        load(shipped, user, ())
    base = '[[prices]]\nprovider = "p"\nchannel = "api"\nmodel = "m"\nas_of = "2026-01-01"\n'
    put(user, "prices/p.toml", base)
    with pytest.raises(InputError, match="'source' is missing"):
        load(shipped, user, ())
    put(user, "prices/p.toml", base + 'source = "s"\ninput_usd_per_mtok = 0\n')
    with pytest.raises(InputError, match="above 0"):
        load(shipped, user, ())


def test_size_encoding_and_folders(shipped: Path, tmp_path: Path) -> None:
    user = tmp_path / "user"
    path = put(user, "hardware/gpu-a.toml", "# " + "x" * (2 * 1024 * 1024))
    with pytest.raises(InputError, match="at most"):
        load(shipped, user, ())
    path.write_bytes(b"memory_gb = 24 # \xff\xfe")
    with pytest.raises(InputError, match="UTF-8"):
        load(shipped, user, ())
    path.write_bytes(b"\xef\xbb\xbfmemory_gb = 48\n")  # a byte order mark is harmless
    assert library(shipped, user).hardware["gpu-a"].memory_gb == 48
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match="folder"):
        load(shipped, user, ())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300))
def test_any_bytes_give_a_profile_or_one_sentence(shipped: Path, tmp_path: Path, data: bytes) -> None:
    path = put(tmp_path / "user", "hardware/gpu-a.toml", "")
    path.write_bytes(data)
    try:
        found = library(shipped, tmp_path / "user")
    except InputError as error:
        assert "gpu-a.toml" in str(error)
    else:
        assert found.hardware["gpu-a"].name
