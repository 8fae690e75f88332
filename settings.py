"""Every setting and limit of Interlock, and the only module that reads the environment.

A setting is the variable `INTERLOCK_` plus its name; each limit stands here once, with its unit in its name.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from domain.webhook import networks_of

PREFIX = "INTERLOCK_"
SESSION_KEY_BYTES_MIN = 32
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})

Port = Annotated[int, Field(ge=1, le=65535)]
Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]


class SettingsFault(Exception):
    """The environment does not make valid settings; the message names each variable and what is wrong with it."""


class Settings(BaseSettings):
    """What a process of Interlock is told about the world it runs in; immutable once read."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, hide_input_in_errors=True, extra="forbid")

    # Postgres
    database_url: str = Field(
        repr=False, description="Postgres, as the app role: a login that cannot bypass row-level security."
    )
    database_owner_url: str | None = Field(
        default=None,
        repr=False,
        description="Postgres, as the owner of the tables: for migrations, seeding and importing knowledge.",
    )
    database_relay_url: str | None = Field(
        default=None, repr=False, description="Postgres, as the relay role: may read identifiers across tenants."
    )
    database_pool_size: Count = Field(default=10, description="Connections that one process keeps, at most.")

    # Temporal
    temporal_address: str = Field(default="127.0.0.1:7233", description="HOST:PORT of Temporal's frontend.")
    temporal_namespace: str = Field(default="default", min_length=1, description="Temporal's namespace.")
    temporal_tls: bool = Field(default=False, description="Speak TLS to Temporal; implied by an API key.")
    temporal_api_key: SecretStr | None = Field(default=None, description="API key for Temporal Cloud.")
    task_queue: str = Field(default="interlock", min_length=1, description="Task queue of workflows and activities.")

    # The business system
    shop_url: str = Field(default="http://127.0.0.1:8090", description="The shop's HTTP API.")
    shop_read_key: SecretStr | None = Field(default=None, description="The shop's key for reads.")
    shop_write_key: SecretStr | None = Field(default=None, description="The shop's key for writes.")

    # What understands and drafts
    model: Literal["local", "openai"] = Field(
        default="local",
        description="`local`: rules, classifier and templates. `openai`: models of an endpoint as well.",
    )
    model_base_url: str | None = Field(
        default=None, description="The endpoint, for those of models.toml that name no address of their own."
    )
    model_api_key: SecretStr | None = Field(default=None, description="The endpoint's key.")
    models_file: Path | None = Field(default=None, description="Another models.toml than the one in the package.")

    # The api, and who may call it
    api_host: str = Field(default="127.0.0.1", description="Address that the api listens on.")
    api_port: Port = Field(default=8080, description="Port that the api listens on.")
    api_public_url: str = Field(
        default="http://127.0.0.1:8080", description="The api as its users see it: for links and problem types."
    )
    jwks: str = Field(
        default=".interlock/keys/jwks.json", description="Path or http(s) URL of the key set that signs tokens."
    )
    jwt_issuer: str = Field(default="interlock-dev", description="`iss` that a token must carry.")
    jwt_audience: str = Field(default="interlock", description="`aud` that a token must carry.")

    # Who signs in here: the customer chat, and the staff's console
    session_key: SecretStr | None = Field(
        default=None, description="Secret, 32 bytes or more, that signs the sessions of chat and console."
    )
    session_ttl_s: Seconds = Field(default=28_800, description="How long a session lasts.")
    sessions_per_minute_max: Count = Field(
        default=600, description="Chat sessions begun by a tenant's visitors, or by one customer."
    )
    secrets_key: SecretStr | None = Field(
        default=None, description="Secret, 32 bytes or more, that seals the tenants' own secrets in the database."
    )
    dev_people_file: Path | None = Field(
        default=None, description="People who sign in without a password, for a demo on this machine: JSON."
    )
    temporal_ui_url: str | None = Field(default=None, description="Temporal's UI, as the staff's browsers reach it.")

    # This process
    data_dir: Path = Field(default=Path(".interlock"), description="Folder of the embedded stack's data.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="Least level logged.")
    log_json: bool = Field(default=False, description="Log JSON lines instead of text for people.")
    metrics_public: bool = Field(default=False, description="Serve /metrics to callers without a token.")

    # What tenants are told of
    webhook_networks: str | None = Field(
        default=None,
        description="Networks beside the public ones that webhooks may reach, over plain http too; commas between.",
    )
    webhook_timeout_s: Seconds = Field(default=10, description="Wait for a webhook's answer.")
    webhook_attempts_max: Count = Field(default=10, description="Tries of one delivery, after which it is dead.")
    webhook_unseen_after_s: Seconds = Field(
        default=30, description="Time to read a reply in the chat before the tenant is told of it."
    )

    # Limits
    body_bytes_max: Count = Field(default=65_536, description="Largest request body taken.")
    text_chars_max: Count = Field(default=8_000, description="Longest message text taken.")
    customer_messages_per_minute_max: Count = Field(default=600, description="Messages taken from one principal.")
    tenant_requests_per_second_max: Count = Field(default=200, description="Requests taken from one tenant.")
    unanswered_messages_max: Count = Field(default=200, description="Unanswered messages in one conversation.")
    sse_streams_per_principal_max: Count = Field(default=20, description="Event streams open for one principal.")
    conversation_idle_close_s: Seconds = Field(default=1_800, description="Idle time after which a conversation ends.")
    customer_confirmation_ttl_s: Seconds = Field(default=1_800, description="How long a customer has to confirm.")
    staff_approval_ttl_s: Seconds = Field(default=86_400, description="How long staff have to approve.")
    evidence_max_age_s: Seconds = Field(
        default=60, description="Age up to which account evidence may carry a decision."
    )
    reservation_claim_ttl_s: Seconds = Field(default=20, description="Age up to which a reservation may be claimed.")
    dispatch_timeout_s: Annotated[float, Field(gt=0, le=20)] = Field(
        default=10, description="Wait for a business system's answer to a write."
    )
    reconcile_deadline_s: Seconds = Field(default=600, description="Time to settle an unknown action before a person.")
    relay_sweep_interval_s: Seconds = Field(default=2, description="Pause between two sweeps of the outbox.")

    @field_validator("database_url", "database_owner_url", "database_relay_url")
    @classmethod
    def _is_postgres(cls, url: str | None) -> str | None:
        if url is not None and urlsplit(url).scheme.partition("+")[0] not in {"postgres", "postgresql"}:
            raise ValueError("must begin with postgresql://")
        return url

    @field_validator("api_public_url", "model_base_url", "shop_url", "temporal_ui_url")
    @classmethod
    def _is_http(cls, url: str | None) -> str | None:
        if url is None:
            return None
        if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).netloc:
            raise ValueError("must be an http:// or https:// URL")
        return url.rstrip("/")

    @field_validator("session_key", "secrets_key")
    @classmethod
    def _is_long(cls, key: SecretStr | None) -> SecretStr | None:
        if key is not None and len(key.get_secret_value().encode()) < SESSION_KEY_BYTES_MIN:
            raise ValueError(f"must have at least {SESSION_KEY_BYTES_MIN} bytes")
        return key

    @model_validator(mode="after")
    def _people_without_passwords_stay_here(self) -> Self:
        if self.dev_people_file is not None and urlsplit(self.api_public_url).hostname not in LOOPBACK_HOSTS:
            raise ValueError("dev_people_file is for a demo on this machine: api_public_url must be on 127.0.0.1")
        return self

    @field_validator("webhook_networks")
    @classmethod
    def _are_networks(cls, networks: str | None) -> str | None:
        networks_of(networks)
        return networks

    @model_validator(mode="after")
    def _claims_outlive_their_dispatch(self) -> Self:
        if self.reconcile_deadline_s <= self.dispatch_timeout_s:
            raise ValueError("reconcile_deadline_s must exceed dispatch_timeout_s")
        return self

    @property
    def owner_url(self) -> str:
        """The owner's database URL; raises `SettingsFault` where none is set."""
        return _present(self.database_owner_url, "database_owner_url")

    @property
    def relay_url(self) -> str:
        """The relay's database URL; raises `SettingsFault` where none is set."""
        return _present(self.database_relay_url, "database_relay_url")


def load(recorded: Mapping[str, str] | None = None) -> Settings:
    """Read the settings from the environment, over which the variables of a `recorded` one win.

    Raises `SettingsFault` naming every variable that is wrong.
    """
    known = {PREFIX + name.upper(): name for name in Settings.model_fields}
    given: dict[str, Any] = {known[name]: value for name, value in (recorded or {}).items() if name in known}
    try:
        return Settings(**given)
    except ValidationError as error:
        raise SettingsFault("\n".join(_complaints(error))) from None


def inherited_environment() -> dict[str, str]:
    """Return a copy of this process's environment, for the children that it starts."""
    return dict(os.environ)


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Return the `INTERLOCK_` variables that no setting answers to: misspellings, as a rule."""
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    return sorted(name for name in environment if name.upper().startswith(PREFIX) and name.upper() not in known)


def _complaints(error: ValidationError) -> list[str]:
    return [
        f"{PREFIX}{str(fault['loc'][0]).upper()}: {fault['msg']}" if fault["loc"] else fault["msg"]
        for fault in error.errors(include_input=False, include_url=False, include_context=False)
    ]


def _present(value: str | None, name: str) -> str:
    if value is None:
        raise SettingsFault(f"{PREFIX}{name.upper()}: needed here, and not set")
    return value
