"""Who makes a request. A `VerifiedPrincipal` is minted by the gateway alone, from a token and the database.

Nothing in a body or in a message can name or change a principal.
"""

from enum import StrEnum

from domain.base import Noun


class PrincipalKind(StrEnum):
    """The four kinds of design §1, and the two machine actors that appear in logs."""

    CUSTOMER = "customer"
    ANONYMOUS = "anonymous"
    STAFF = "staff"
    SERVICE = "service"


class StaffRole(StrEnum):
    """What a member of staff may do; looked up at every request."""

    AGENT = "agent"
    MANAGER = "manager"
    FINANCE = "finance"
    TRUST_AND_SAFETY = "trust_and_safety"
    ADMIN = "admin"


class VerifiedPrincipal(Noun):
    """Proof that a token was valid and its bearer is in good standing. `id` is unique within tenant and kind."""

    tenant_id: str
    kind: PrincipalKind
    id: str
    role: StaffRole | None = None

    @property
    def key(self) -> str:
        """`kind:id`, the form that logs and rows carry."""
        return f"{self.kind.value}:{self.id}"

    @property
    def is_staff(self) -> bool:
        """Whether a person of the tenant's staff is asking."""
        return self.kind is PrincipalKind.STAFF
