"""The bundles in force, each parsed once: a digest goes in, a verdict or a permission comes out.

Bundles are immutable and named by their digest, so nothing here is ever invalidated.
"""

import asyncio
from collections.abc import Mapping

from domain.fault import OperationalFault
from domain.permission import ToolQuestion
from domain.verdict import Judgement, PolicyQuestion
from policy.bundle import Bundle, BundleInvalid
from policy.engine import PolicyEngine
from policy.permissions import Permissions
from policy.question import recorded
from store.database import Database
from store.policies import stored_bundle


class PolicyBook:
    """Engines by the digest of their bundle; the bundles themselves are shared, a base by all of its layers."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._bundles: dict[str, Bundle] = {}
        self._engines: dict[str, PolicyEngine] = {}
        self._permissions: dict[str, Permissions] = {}
        self._opening = asyncio.Lock()

    async def open(self, tenant_id: str, digest: str) -> None:
        """Make sure that the bundle `digest` can judge. Raises OperationalFault when it is nowhere, or no bundle."""
        if digest in self._permissions:
            return
        async with self._opening:  # many ask for a bundle that was just published: it is read and parsed once
            if digest in self._permissions:
                return
            bundle = await self._bundle(tenant_id, digest)
            engine = await asyncio.to_thread(PolicyEngine, bundle)
            self._engines[digest] = engine
            self._permissions[digest] = Permissions(engine)

    async def _bundle(self, tenant_id: str, digest: str) -> Bundle:
        if digest in self._bundles:
            return self._bundles[digest]
        stored = await stored_bundle(self._db, tenant_id, digest)
        if stored is None:
            raise OperationalFault("policy_bundle_missing")
        base = await self._bundle(tenant_id, stored.base_digest) if stored.base_digest else None
        try:  # parsed beside the loop, which has other things to do
            bundle = await asyncio.to_thread(_parsed, base, stored.files)
        except BundleInvalid as fault:
            raise OperationalFault("policy_bundle_invalid") from fault
        if bundle.digest != digest:
            raise OperationalFault("policy_bundle_not_as_named")
        self._bundles[digest] = bundle
        return bundle

    def judge(self, digest: str, question: PolicyQuestion) -> Judgement:
        """Return the verdict under that bundle, and what it was judged on.

        Raises OperationalFault when the bundle has not been opened yet.
        """
        engine = self._engines.get(digest)
        if engine is None:
            raise OperationalFault("policy_bundle_not_open")
        return Judgement(verdict=engine.judge(question), request=recorded(question), granted=question.granted)

    def allows(self, digest: str, question: ToolQuestion) -> bool:
        """Return whether a tool may be used under that bundle.

        Raises OperationalFault when the bundle has not been opened yet.
        """
        permissions = self._permissions.get(digest)
        if permissions is None:
            raise OperationalFault("policy_bundle_not_open")
        return permissions.allows(question)


def _parsed(base: Bundle | None, files: Mapping[str, str]) -> Bundle:
    return Bundle.parse(files) if base is None else Bundle.layered(base, files)
