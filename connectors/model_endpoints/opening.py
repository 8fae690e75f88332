"""Opens what models.toml says: the book, checked, and its endpoints, ready to be asked.

A process that serves customers is warned of every route that nobody has evaluated.
"""

from collections.abc import Mapping
from pathlib import Path

import structlog
from pydantic import SecretStr

from connectors.model_endpoints.addresses import addresses_of
from connectors.model_endpoints.book import ModelBook
from connectors.model_endpoints.endpoints import ModelEndpoints
from connectors.model_endpoints.reading import PACKAGED, read_models

log = structlog.get_logger()


def open_models(
    path: Path | None,
    prompts: Mapping[str, str],
    base_url: str | None,
    api_key: SecretStr | None,
    environment: Mapping[str, str],
) -> tuple[ModelBook, ModelEndpoints]:
    """Return the book at `path` (None: ours) and its endpoints. Raises ModelsInvalid, and ModelsNotInstalled.

    `prompts` are the digests of all prompts; `base_url` and `api_key` are those of the settings.
    """
    book = read_models(path, prompts)
    addresses = addresses_of(book, str(path or PACKAGED), base_url, api_key, environment)
    return book, ModelEndpoints(book, addresses)


def warn_of_unevaluated(book: ModelBook) -> None:
    """Log a warning for every route that no evaluation has admitted."""
    for use in book.unevaluated:
        log.warning("models.unevaluated", use=use)
