"""What models.toml says, once it holds: endpoints, models with their prices, and for each role and route whom to ask.

Frozen nouns with their limits, each with its unit; read and cross-checked by `reading`.
"""

from datetime import date
from decimal import ROUND_UP, Decimal
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from domain.base import Noun
from domain.model import Budgets, ModelRole, Route

NAME = r"^[a-z0-9][a-z0-9_.-]{0,63}$"
URL = r"^https?://[^\s/]+"
CURRENCY = r"^[A-Z]{3}$"

Name = Annotated[str, Field(pattern=NAME)]
Price = Annotated[Decimal, Field(ge=0, le=10_000)]
Seconds = Annotated[float, Field(gt=0, le=120)]
TokenCount = Annotated[int, Field(ge=1, le=10_000_000)]
NEEDED_PROMPTS: dict[ModelRole, tuple[str, ...]] = {  # each role asks with every one of these, by case
    ModelRole.UNDERSTAND: ("understand",),
    ModelRole.DRAFT: ("draft_anonymous", "draft_read_only", "draft_action"),
}
UNEVALUATED: Literal["unevaluated"] = "unevaluated"


class Structure(StrEnum):
    """How an endpoint can be held to a structure, best first."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    NONE = "none"

    @property
    def plainer(self) -> "Structure | None":
        """The next that asks less of the endpoint."""
        return {Structure.JSON_SCHEMA: Structure.JSON_OBJECT, Structure.JSON_OBJECT: Structure.NONE}.get(self)


class Endpoint(Noun):
    """Where models are asked. Without a `base_url` and a key reference, those of the settings count."""

    base_url: str | None = Field(default=None, pattern=URL)
    api_key_env: str | None = Field(default=None, min_length=1)  # the variable that holds the key
    api_key_file: str | None = Field(default=None, min_length=1)  # the file that holds the key
    needs_key: bool = True
    connect_timeout_s: Seconds = 2.0
    answer_bytes_max: Annotated[int, Field(ge=1_000, le=10_000_000)] = 262_144
    failures_to_open: Annotated[int, Field(ge=1, le=100)] = 4  # in a row, of one model of it
    open_s: Seconds = 20.0  # how long it is then left alone


class Model(Noun):
    """One model at one endpoint. Prices are per million tokens, in the book's currency."""

    endpoint: Name
    model: Annotated[str, Field(min_length=1, max_length=200)]
    input_per_million: Price
    output_per_million: Price
    context_tokens_max: TokenCount
    output_tokens_max: TokenCount
    structured: Structure = Structure.JSON_SCHEMA
    limit_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None  # None: not sent; some models refuse it
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high"] | None = None  # None: not sent

    def cost_micros(self, input_tokens: int, output_tokens: int) -> int:
        """Return what so many tokens cost, in millionths of the book's currency, rounded up."""
        cost = input_tokens * self.input_per_million + output_tokens * self.output_per_million
        return int(cost.to_integral_value(ROUND_UP))


class Evaluation(Noun):
    """What admitted a route: over which cases, with what figures, and exactly which prompts."""

    at: date
    measured: Annotated[str, Field(min_length=1)]
    cases: Annotated[int, Field(ge=1)]
    figures: dict[str, float] = Field(min_length=1)
    models: tuple[Name, ...] = Field(min_length=1)
    prompts: dict[str, str] = Field(min_length=1)  # the digest of each, by its `name@version`


class RouteUse(Noun):
    """Whom a role asks on a route, in order, with which prompts, and what admitted it."""

    chain: tuple[Name, ...] = Field(min_length=1, max_length=6)
    prompts: tuple[str, ...] = Field(min_length=1)  # `name@version`, one of each name
    answer_tokens_max: TokenCount
    call_timeout_s: Seconds
    admitted: Literal["unevaluated"] | None = None
    evaluation: Evaluation | None = None

    def prompt_ref(self, name: str) -> str:
        """Return the version of the prompt `name` that this route uses. Raises KeyError where it uses none."""
        return {ref.partition("@")[0]: ref for ref in self.prompts}[name]


class ModelBook(Noun):
    """All of models.toml."""

    currency: Annotated[str, Field(pattern=CURRENCY)]
    endpoints: dict[Name, Endpoint] = Field(min_length=1)
    models: dict[Name, Model] = Field(min_length=1)
    roles: dict[ModelRole, dict[Route, RouteUse]]
    budgets: Budgets

    def use(self, role: ModelRole, route: Route) -> RouteUse | None:
        """Return how a role asks on a route, or None where it does not."""
        return self.roles.get(role, {}).get(route)

    def routes(self, role: ModelRole) -> frozenset[Route]:
        """Return the routes on which a role may ask a model."""
        return frozenset(self.roles.get(role, {}))

    @property
    def unevaluated(self) -> tuple[str, ...]:
        """`role.route` of every use that no evaluation has admitted."""
        return tuple(
            f"{role}.{route}" for role, by in self.roles.items() for route, use in by.items() if use.evaluation is None
        )
