"""What the customer chat shows, and where it may be shown, before anybody has said who they are.

Public, and so without anything that is not on the organisation's own pages: its name, its sites, its languages.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from domain.refusal import NotFound
from gateway.answers import Answer
from gateway.desk import desk_of
from gateway.documents import problems
from gateway.refusals import InvalidRequest, Unavailable
from gateway.shapes import Id
from store.desk import read_desk
from store.people import tenant_name

router = APIRouter(tags=["sessions"])


Tenant = Annotated[Id, Query(description="The organisation.", examples=["acme-market"])]


class WidgetShown(Answer):
    """What the chat of an organisation is called, which sites may frame it, and in which languages it speaks."""

    name: str
    allowed_origins: list[str]
    languages: list[str]


@router.get("/widget", summary="The chat of an organisation", responses=problems(NotFound, InvalidRequest, Unavailable))
async def widget(request: Request, tenant: Tenant) -> WidgetShown:
    """Return what a page needs to show the chat. No languages named: all that it knows."""
    desk = desk_of(request)
    name = await tenant_name(desk.db, tenant)
    if name is None:
        raise NotFound("There is no such organisation.")
    shown = (await read_desk(desk.db, tenant)).document.widget
    return WidgetShown(name=name, allowed_origins=list(shown.allowed_origins), languages=list(shown.languages))
