"""What the service desk takes and answers over HTTP: its document, its staff, claims on handoffs.

Shapes alone; the document itself is the domain's.
"""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from domain.desk import DeskSettings, Name
from domain.principal import StaffRole
from gateway.answers import Answer
from gateway.bodies import Body
from gateway.shapes import Version

HANDOFF_CLAIM_MINUTES_MAX = 60
SKILLS_MAX = 50


class SetDesk(Body):
    """A whole document, in the place of the version that you have seen (0: none was set)."""

    document: DeskSettings
    expected_version: Version


class DeskShown(Answer):
    """The document that counts, and its version; version 0 is what counts where none was set."""

    version: int
    document: DeskSettings


class DeskSet(Answer):
    """Your document counts, as this version."""

    version: int


class StaffMember(Answer):
    """Somebody of the staff. No languages named: any."""

    id: str
    name: str
    role: StaffRole
    skills: tuple[str, ...]
    languages: tuple[str, ...]


class Staff(Answer):
    """Everybody who works here now, by name."""

    items: list[StaffMember]


class SetSkills(Body):
    """What somebody can do, and in which languages; an empty list of languages means any."""

    skills: Annotated[tuple[Name, ...], Field(max_length=SKILLS_MAX)]
    languages: Annotated[tuple[Name, ...], Field(max_length=SKILLS_MAX)]


class TakeHandoff(Body):
    """Take a handoff for yourself, for a while; again, to keep it longer."""

    minutes: Annotated[int, Field(strict=True, ge=1, le=HANDOFF_CLAIM_MINUTES_MAX)] | None = Field(
        default=None, description="Default: as the desk's document says."
    )


class HandoffTaken(Answer):
    """Who has claimed a handoff, and until when at most."""

    handoff_id: str
    staff: str
    until: datetime


class HandoffFree(Answer):
    """You do not have this handoff any more."""

    handoff_id: str
