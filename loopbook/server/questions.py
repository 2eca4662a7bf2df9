"""The bodies of our own API. Workers read them: a large one takes longer than others may wait."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from loopbook.errors import InputError
from loopbook.recipes.reports import LONGEST_S, SHORTEST_S
from loopbook.targets import DEFAULT, TARGETS, choice

MOST_REPORTS = 32
"""Reports in one request."""


def _known(target: str) -> str:
    if target not in TARGETS:
        raise ValueError(f"Input should be {choice()}")
    return target


Target = Annotated[
    str, AfterValidator(_known), WithJsonSchema({"enum": sorted(TARGETS), "type": "string"})
]


class Nearest(BaseModel):
    """A question for neighbours: of a program, or of a vector."""

    model_config = ConfigDict(extra="forbid")

    sdfg: dict[str, Any] | None = Field(None, description="a program as docc's JSON")
    vector: list[float] | None = Field(
        None, description="of one nest, by the encoder that /v1/info names", max_length=4096
    )
    encoder: str | None = Field(None, description="what made the vector", max_length=128)
    target: Target = DEFAULT
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


class Measured(BaseModel):
    """What a trusted machine has measured of a record."""

    model_config = ConfigDict(extra="forbid")

    status: Literal[
        "ok", "illegal", "wrong", "crash", "compiler", "error", "hang", "memory", "unmeasured"
    ]
    hardware: dict[str, Any] = Field(description="the machine")
    measurement: dict[str, Any] | None = Field(
        None, description="as in a record; needed where the status is ok, and nowhere else"
    )
    message: str = Field("", max_length=4096)

    @model_validator(mode="after")
    def _complete(self) -> Measured:
        if (self.status == "ok") != (self.measurement is not None):
            raise ValueError("a measurement goes with the status ok")
        return self


class Reported(BaseModel):
    """How a recipe did where it ran."""

    model_config = ConfigDict(extra="forbid")

    record: str = Field(pattern="^[0-9a-f]{32}$", description="id of the record")
    hardware_key: str = Field(
        min_length=1, max_length=64, description="class of the machine, as /v1/hardware has it"
    )
    reference_s: float = Field(
        ge=SHORTEST_S, le=LONGEST_S, description="seconds with docc's own schedule"
    )
    time_s: float = Field(ge=SHORTEST_S, le=LONGEST_S, description="seconds with the recipe")


class FieldReports(BaseModel):
    """Reports, each of a run of its own."""

    model_config = ConfigDict(extra="forbid")

    reports: list[Reported] = Field(min_length=1, max_length=MOST_REPORTS)


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
