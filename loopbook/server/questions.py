"""The bodies of our own API. Workers read them: a large one takes longer than others may wait."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from loopbook.errors import InputError

Target = Literal["sequential", "openmp"]


class Nearest(BaseModel):
    """A question for neighbours: of a program, or of a vector."""

    model_config = ConfigDict(extra="forbid")

    sdfg: dict[str, Any] | None = Field(None, description="a program as docc's JSON")
    vector: list[float] | None = Field(
        None, description="of one nest, by the encoder that /v1/info names", max_length=4096
    )
    encoder: str | None = Field(None, description="what made the vector", max_length=128)
    target: Target = "sequential"
    k: int = Field(5, ge=1, le=100)
    exclude: list[str] = Field(default_factory=list, max_length=256)
    hardware: dict[str, Any] | None = Field(
        None, description="the machine that recipes are for; default the server's choice"
    )
    whole: bool = Field(False, description="answer with whole records and their vectors")


class Contribution(BaseModel):
    """A record as `loopbook book export` writes it."""

    model_config = ConfigDict(extra="forbid")

    record: dict[str, Any]


Model = TypeVar("Model", bound=BaseModel)


def read(model: type[Model], document: dict[str, Any]) -> Model:
    """A body as a model.

    Raises:
        InputError: it is none; which member is wrong, and why.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])[:80]
        raise InputError(f"{place}: {first['msg'][:200]}") from None


def described(model: type[BaseModel]) -> dict[str, Any]:
    """What OpenAPI is told of a route that takes such a body."""
    schema = model.model_json_schema()
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
