"""The JSON Schema of a trace, generated from the types: for editors, and for tools that write traces."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue

from forkproof.conformance.trace.model import VERSION, Trace

__all__ = ["SCHEMA_ID", "trace_schema"]

SCHEMA_ID = f"urn:forkproof:schema:trace:{VERSION}"


class _Generator(GenerateJsonSchema):
    """Writes the schema of what stands in a file: a key that is left out is left out, never null."""

    def nullable_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if described.get("default", ...) is None:
            del described["default"]
        return described

    def field_title_should_be_set(self, schema: Any) -> bool:
        del schema
        return False

    def generate(self, schema: Any, mode: JsonSchemaMode = "validation") -> JsonSchemaValue:
        described = super().generate(schema, mode)
        return {"$schema": self.schema_dialect, "$id": SCHEMA_ID, **described, "title": "A forkproof trace"}


def trace_schema() -> dict[str, Any]:
    """The schema of a trace file, JSON Schema draft 2020-12.

    What it can't say (names that must exist, clauses that must be in the contract) is the linter's to check.
    """
    return Trace.model_json_schema(by_alias=True, schema_generator=_Generator)
