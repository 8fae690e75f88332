"""What a help desk sends, and what it is answered: the neutral shape of `docs/tickets.md`.

A help desk knows more than is needed here, so fields that are not known are passed over; whoever signs is believed, and
still everything is typed and bounded.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from domain.ticket import Requester
from gateway.answers import Answer
from gateway.shapes import Text, storable

DeskId = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f]+$")]
"""An id of the help desk's."""

Subject = Annotated[str, Field(strict=True, max_length=500), AfterValidator(storable)]
LanguageTag = Annotated[
    str, StringConstraints(strict=True, max_length=35, pattern=r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]+)*$")
]


class TicketEventType(StrEnum):
    """What happened in the help desk."""

    CREATED = "ticket.created"
    MESSAGE = "ticket.message"
    CLOSED = "ticket.closed"


class _Told(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class TicketPerson(_Told):
    """Somebody, by the help desk's id of them."""

    id: DeskId = Field(examples=["contact-77"])


class TicketRequester(TicketPerson):
    """Who asked for help. Give `customer_id` only where you know that it is them: you are believed."""

    customer_id: DeskId | None = Field(default=None, examples=["c-1001"])


class TicketInfo(_Told):
    """The ticket itself."""

    id: DeskId = Field(examples=["T-2041"])
    subject: Subject = Field(default="", examples=["Where is my order?"])
    requester: TicketRequester
    language: LanguageTag | None = Field(default=None, description="Default: as the requester writes.", examples=["de"])

    @property
    def asked_by(self) -> Requester:
        """Whom the help desk names as having asked."""
        return Requester(id=self.requester.id, customer_id=self.requester.customer_id)

    @property
    def tongue(self) -> str:
        """The language alone, without its region."""
        return self.language.replace("_", "-").partition("-")[0].lower() if self.language else "en"


class TicketMessage(_Told):
    """One message of a ticket, in plain text."""

    id: DeskId = Field(examples=["M-1"])
    author: TicketPerson
    text: Text = Field(examples=["My order A-10482 has not arrived."])
    at: AwareDatetime | None = Field(default=None, description="When it was written.")

    @model_validator(mode="before")
    @classmethod
    def _is_plain_text(cls, given: Any) -> Any:
        if isinstance(given, dict) and "html" in given and "text" not in given:
            raise ValueError("only plain text is taken: turn the HTML into text, and send that as `text`")
        return given


class PostTicket(_Told):
    """One event of the help desk."""

    type: TicketEventType
    ticket: TicketInfo
    message: TicketMessage | None = Field(default=None, description="Needed for all but `ticket.closed`.")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.message is None and self.type is not TicketEventType.CLOSED:
            raise ValueError("`message` is needed: what was written, by whom")
        return self


class TicketTaken(Answer):
    """Where an event stands. `seq` where it is a message in the conversation; people in copy and closings have none."""

    conversation_id: str
    seq: int | None = Field(examples=[1])
    duplicate: bool = Field(description="It was taken before, and nothing was added.", examples=[False])


class CopyAnswer(Answer):
    """What somebody other than the requester wrote."""

    message_id: str
    author_id: str
    text: str
    at: datetime


class TicketAnswer(Answer):
    """A conversation's ticket: what the help desk calls it, and what others than the requester wrote in it."""

    ticket_id: str
    subject: str
    requester_id: str
    closed_at: datetime | None
    copies: list[CopyAnswer]
