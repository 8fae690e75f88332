"""The bundles in force, each parsed once: a digest goes in, a verdict comes out.

Bundles are immutable and named by their digest, so nothing here is ever invalidated.
"""

from domain.fault import OperationalFault
from domain.verdict import PolicyQuestion, Verdict
from policy.bundle import Bundle
from policy.engine import PolicyEngine
from store.database import Database
from store.tenancy import bundle_files


class PolicyBook:
    """Engines by the digest of their bundle."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._engines: dict[str, PolicyEngine] = {}

    async def open(self, digest: str) -> None:
        """Make sure that the bundle `digest` can judge. Raises OperationalFault when it is nowhere."""
        if digest in self._engines:
            return
        files = await bundle_files(self._db, digest)
        if files is None:
            raise OperationalFault("policy_bundle_missing")
        self._engines[digest] = PolicyEngine(Bundle.parse(files))

    def judge(self, digest: str, question: PolicyQuestion) -> Verdict:
        """Return the verdict under that bundle. Raises OperationalFault when it has not been opened yet."""
        engine = self._engines.get(digest)
        if engine is None:
            raise OperationalFault("policy_bundle_not_open")
        return engine.judge(question)
