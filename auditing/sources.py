"""The texts that a bundle is parsed from, as they are handed to processes of their own.

Imports nothing that makes a process slow to start.
"""

from domain.base import Noun
from policy.bundle import Bundle


class Sources(Noun):
    """The texts that a bundle is parsed from: its files, and for a tenant's layer those of its base."""

    files: dict[str, str]
    base: dict[str, str] | None = None

    def bundle(self) -> Bundle:
        """Return the bundle, parsed. Raises BundleInvalid."""
        return Bundle.parse(self.files) if self.base is None else Bundle.layered(Bundle.parse(self.base), self.files)
