"""The shipped JSON Schemas are those of the domain models, and the shipped files satisfy them."""

from __future__ import annotations

import json

import jsonschema
import pytest

from planner.domain.schema import FILES, schemas

FOLDERS = {
    "hardware": "hardware", "machine": "machines", "model": "models", "engine": "engines", "prices": "prices",
    "clouds": "clouds", "tariff": "power", "assumptions": "assumptions", "workload": "workloads",
}  # fmt: skip


def test_no_drift(shipped):
    """Regenerate with planner.domain.schema.schemas() after changing a domain model."""
    stored = {path.name: path.read_text(encoding="utf-8") for path in (shipped.root / "schema").glob("*.json")}
    assert stored == schemas()


@pytest.mark.parametrize("name", sorted(FOLDERS))
def test_files_satisfy_their_schema(shipped, name):
    schema = json.loads(schemas()[f"{name}.schema.json"])
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for path in shipped.files(FOLDERS[name]):
        errors = [f"{path.name}: {error.message}" for error in validator.iter_errors(shipped.load(path))]
        assert errors == []


def test_unknown_keys_fail():
    schema = json.loads(schemas()["hardware.schema.json"])
    bad = {"id": "x", "name": "x", "vendor": "x", "kind": "cpu", "source": "x", "as_of": "x", "memroy_gb": 1}
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(bad))


def test_field_texts_reach_the_schema():
    schema = json.loads(schemas()["hardware.schema.json"])
    assert "1 GiB of room" in schema["properties"]["memory_gb"]["description"]
    assert set(FILES) == {name.removesuffix(".schema.json") for name in schemas()}
