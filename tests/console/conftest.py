"""The pages over a real gateway and a real Postgres, and the people who open them."""

from tests.console import staffroom
from tests.gateway import conftest as gateway

room, issuer, courier, make_doors = staffroom.room, gateway.issuer, gateway.courier, gateway.make_doors
tenant, customer, talk = gateway.tenant, gateway.customer, gateway.talk
manager, agent = gateway.manager, gateway.agent
