"""The HTTP side: chat completions by the script in force, and two doors for tests to switch it and to look.

`POST /_script {name}` switches; `GET /_asked` counts since then and gives the last requests as they came in.
"""

import json
from collections import deque
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.scripted_model.asked import Asked
from tests.scripted_model.replies import Fails
from tests.scripted_model.scripts import NAMES, Script, script_of
from tests.scripted_model.wire import respond

KEPT = 200


class Stage:
    """The script in force, and what has been asked since it was switched."""

    def __init__(self, script: str) -> None:
        self.switch(script)

    def switch(self, name: str) -> None:
        """Begin another script. Raises ValueError for one that there is not."""
        self.script: Script = script_of(name)
        self.name, self.count = name, 0
        self.kept: deque[dict[str, Any]] = deque(maxlen=KEPT)

    def hear(self, body: dict[str, Any], authorization: str) -> Asked:
        """Note one request."""
        self.count += 1
        self.kept.append({"body": body, "authorization": authorization})
        return Asked(self.count, body)


def app_of(script: str) -> Starlette:
    """Return the server, with `script` in force."""
    stage = Stage(script)

    async def complete(request: Request) -> Response:
        try:
            body = json.loads(await request.body())
        except ValueError:
            return await respond(Fails(400, "invalid_request_error", "The body is not JSON."), Asked(0, {}))
        asked = stage.hear(body, request.headers.get("authorization", ""))
        return await respond(stage.script(asked), asked)

    async def models(_: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "tests"}]})

    async def switch(request: Request) -> Response:
        try:
            stage.switch(str((await request.json())["name"]))
        except (ValueError, KeyError) as fault:
            return JSONResponse({"error": str(fault), "scripts": NAMES}, 422)
        return JSONResponse({"name": stage.name})

    async def asked(_: Request) -> Response:
        return JSONResponse({"name": stage.name, "count": stage.count, "asked": list(stage.kept)})

    return Starlette(
        routes=[
            Route("/v1/chat/completions", complete, methods=["POST"]),
            Route("/v1/models", models),
            Route("/_script", switch, methods=["POST"]),
            Route("/_asked", asked),
        ]
    )
