"""Where each endpoint of a book is and with which key, from the file, the settings and the environment together.

Reads key files, and no environment: that is handed in. A key never stands in an error.
"""

from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from connectors.model_endpoints.book import Endpoint, ModelBook
from connectors.model_endpoints.reading import ModelsInvalid
from domain.base import Noun

OPENAI_URL = "https://api.openai.com/v1"
_NO_KEY = "none"  # what is sent where an endpoint needs no key: the client wants some


class Address(Noun):
    """One endpoint, as it is called."""

    base_url: str
    key: SecretStr


def addresses_of(
    book: ModelBook, file: str, base_url: str | None, api_key: SecretStr | None, environment: Mapping[str, str]
) -> dict[str, Address]:
    """Return the address of every endpoint that a chain uses. Raises ModelsInvalid, naming `file`.

    `base_url` and `api_key` are those of the settings; OpenAI's own address counts where there is none at all.
    """
    used = {book.models[name].endpoint for by in book.roles.values() for use in by.values() for name in use.chain}
    found: dict[str, Address] = {}
    complaints: list[str] = []
    for name in sorted(used):
        endpoint = book.endpoints[name]
        try:
            key = _key(endpoint, api_key, environment)
        except ValueError as fault:
            complaints.append(f"[endpoints.{name}] {fault}")
            continue
        found[name] = Address(base_url=endpoint.base_url or base_url or OPENAI_URL, key=key)
    if complaints:
        raise ModelsInvalid(file, complaints)
    return found


def _key(endpoint: Endpoint, api_key: SecretStr | None, environment: Mapping[str, str]) -> SecretStr:
    """Return the key. Raises ValueError that says where one was looked for."""
    if endpoint.api_key_env is not None:
        key, where = environment.get(endpoint.api_key_env, ""), f"api_key_env: {endpoint.api_key_env} is not set"
        right = "set it to the endpoint's key"
    elif endpoint.api_key_file is not None:
        key, where = _of_file(Path(endpoint.api_key_file)), f"api_key_file: {endpoint.api_key_file} holds no key"
        right = "it should hold the endpoint's key and nothing else"
    else:
        key, where = api_key.get_secret_value() if api_key else "", "has no key"
        right = "set INTERLOCK_MODEL_API_KEY, or api_key_env or api_key_file here, or needs_key = false"
    key = key.strip()
    if not key and endpoint.needs_key:
        raise ValueError(f"{where}; {right}")
    if not key.isascii() or any(c.isspace() for c in key):
        raise ValueError("the key holds what no key can: blanks, or letters beyond ASCII; copy it again")
    return SecretStr(key or _NO_KEY)


def _of_file(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
