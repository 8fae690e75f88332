"""A cable between the gateway and Postgres that can be cut and mended, so that only one side notices."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from sqlalchemy.engine import make_url


class Cable:
    """Forwards bytes while it is whole; cut, it drops every connection and takes no new one."""

    def __init__(self, url: str) -> None:
        self._to = make_url(url)
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._port = 0
        self.whole = True

    @property
    def url(self) -> str:
        """The database's URL through the cable."""
        return self._to.set(host="127.0.0.1", port=self._port, query={}).render_as_string(hide_password=False)

    @contextlib.asynccontextmanager
    async def laid(self) -> AsyncIterator["Cable"]:
        self._server = await asyncio.start_server(self._join, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            self._server.close()
            self.cut()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        self.whole = False
        for writer in self._open:
            writer.transport.abort()

    def mend(self) -> None:
        self.whole = True

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.whole:
            writer.transport.abort()
            return
        there, out = await self._dial()
        self._open |= {writer, out}
        for one, other in ((reader, out), (there, writer)):
            task = asyncio.create_task(self._carry(one, other))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        folder = self._to.query.get("host")
        if isinstance(folder, str):
            return await asyncio.open_unix_connection(f"{folder}/.s.PGSQL.{self._to.port or 5432}")
        return await asyncio.open_connection(self._to.host, self._to.port or 5432)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while some := await reader.read(65_536):
                writer.write(some)
                await writer.drain()
        writer.transport.abort()
        self._open.discard(writer)
