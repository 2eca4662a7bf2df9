"""`loopbook.Client` and `loopbook.AsyncClient`: a server's book by HTTP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import aclosing, closing
from typing import Any

import httpx

from loopbook import targets
from loopbook.client.remote import calls
from loopbook.client.remote.answer import MAX_ANSWER, Answer, Unpacker
from loopbook.client.remote.calls import Call
from loopbook.client.remote.flows import TROUBLE, Came, Export, Item, Policy, Step, asking
from loopbook.client.remote.transport import Transport, ending, trusted
from loopbook.display import brief
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.layer import Neighbour
from loopbook.recipes.record import Record
from loopbook.recipes.reports import Report


class Client:
    """A server's book. Safe to share between threads.

    ::

        with loopbook.Client("http://127.0.0.1:8080", token="…") as client:
            client.info()["records"]
            client.exact(fingerprint, "openmp")

    Args:
        url: base address, such as ``http://127.0.0.1:8080``; default ``$LOOPBOOK_SERVER``.
        token: default ``$LOOPBOOK_TOKEN``, if that is for this server, or ``$DOCC_ACCESS_TOKEN``,
            if ``$RPC_SERVER`` is this server. Redirections are not followed.
        policy: time-outs, and how often to ask again.
        verify: how HTTPS certificates are checked, as httpx wants it.

    Every method raises:
        OfflineError: the server cannot be reached, or cannot answer now.
        AccessError: it does not take the token.
        RemoteError: it refuses otherwise, or its answer makes no sense.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        policy: Policy | None = None,
        verify: Any = True,
    ) -> None:
        self.url = calls.server_address(url)
        self._policy = policy or Policy()
        options = _options(self.url, token, self._policy)
        self._http = httpx.Client(**options, transport=Transport(self.url, verify))

    def __repr__(self) -> str:
        return brief(self, self.url)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def info(self) -> dict[str, Any]:
        """What the server serves: how many records, its limits, a stamp of its book."""
        return self.ask(Call("GET", "/v1/info"))

    def nearest(
        self,
        query: Embedding,
        k: int = 5,
        *,
        target: str = targets.DEFAULT,
        exclude: Collection[str] = (),
        hardware: HardwareProfile | None = None,
    ) -> list[Neighbour]:
        """The records nearest to an embedded nest, nearest first.

        Args:
            exclude: kernels to leave out.
            hardware: the machine that the recipe is for; None leaves that to the server.
        """
        told = self.ask(calls.nearest_call(query, k, target, exclude, hardware))
        return calls.neighbours_of(told, query, target, self.url)

    def exact(self, fingerprint: str, target: str = targets.DEFAULT) -> list[Record]:
        """The records of one very nest."""
        told = self.ask(calls.exact_call(fingerprint, target))
        return calls.records_of(told, fingerprint, target, self.url)

    def missed(
        self, fingerprint: str, target: str = targets.DEFAULT, seconds: float = 0.0
    ) -> dict[str, Any]:
        """What has become of a nest that was asked for in vain: its `state` is "unknown", "missed",
        "waiting", "leased", "done" or "dead".

        Args:
            seconds: to wait for one of the last two.
        """
        until = time.monotonic() + seconds
        while True:
            left = until - time.monotonic()
            told = self.ask(calls.missed_call(fingerprint, target, left))
            if calls.is_over(told) or left <= calls.LONGEST_POLL_S:
                return told

    def contribute(self, record: Record) -> str:
        """Give a record: "quarantine", "promoted", or "known" if the server has it already."""
        told = self.ask(Call("POST", "/v1/records", {"record": record.to_json()}))
        return calls.status_of(told, self.url)

    def report(self, reports: Sequence[Report]) -> list[str]:
        """Say how recipes did where they ran: for each "counted", "full" if it was said often
        enough, "withdrawn" if the server serves it no more from now on, or "unknown" if it does not
        serve it."""
        found: list[str] = []
        for part in calls.parts(reports):
            found += calls.statuses_of(self.ask(calls.report_call(part)), part, self.url)
        return found

    def export(self, after: str = "", target: str | None = None) -> Iterator[Item]:
        """The server's records with their embeddings, in order of id; taken up again behind the
        last one that arrived when the connection breaks.

        Args:
            after: an id; only records behind it.
        """
        export = Export(after, target, self._policy, self.url)
        while True:
            call = export.call
            try:
                with ending(export.until):
                    request = _request(self._http, call)
                    response = self._http.send(request, stream=True)
                with closing(response):
                    pieces = response.iter_raw()
                    answer = Answer(response.status_code, response.headers, b"")
                    if answer.status != 200:
                        with ending(export.until):
                            body = b"".join(self._unpacked(response, pieces))
                        answer = answer._replace(body=body)
                    wait = export.begun(answer)
                    while wait is None:
                        with ending(export.until):
                            piece = next(pieces, None)
                        if piece is None:
                            export.end()
                            return
                        yield from export.feed(piece)
            except TROUBLE as error:
                wait = export.failed(error)
            time.sleep(wait)

    def ask(self, call: Call) -> dict[str, Any]:
        """The JSON object that the server answers with."""
        steps = asking(call, self._policy, self.url)
        came: Came = None
        try:
            while True:
                came = self._do(steps.send(came))
        except StopIteration as end:
            return end.value

    def _do(self, step: Step) -> Came:
        if not isinstance(step, tuple):
            return time.sleep(step)
        call, until = step
        try:
            with ending(until):
                response = self._http.send(_request(self._http, call), stream=True)
                with closing(response):
                    body = b"".join(self._unpacked(response, response.iter_raw()))
        except TROUBLE as error:
            return error
        return Answer(response.status_code, response.headers, body)

    def _unpacked(self, response: httpx.Response, pieces: Iterator[bytes]) -> Iterator[bytes]:
        unpacker = Unpacker(response.headers, MAX_ANSWER, self.url)
        for piece in pieces:
            yield from unpacker.feed(piece)
        unpacker.end()


class AsyncClient:
    """`Client` for asyncio; see there.

    ::

        async with loopbook.AsyncClient("http://127.0.0.1:8080") as client:
            await client.info()
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        policy: Policy | None = None,
        verify: Any = True,
    ) -> None:
        self.url = calls.server_address(url)
        self._policy = policy or Policy()
        options = _options(self.url, token, self._policy)
        self._http = httpx.AsyncClient(**options, verify=trusted(self.url, verify))

    def __repr__(self) -> str:
        return brief(self, self.url)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def info(self) -> dict[str, Any]:
        """See `Client.info`."""
        return await self.ask(Call("GET", "/v1/info"))

    async def nearest(
        self,
        query: Embedding,
        k: int = 5,
        *,
        target: str = targets.DEFAULT,
        exclude: Collection[str] = (),
        hardware: HardwareProfile | None = None,
    ) -> list[Neighbour]:
        """See `Client.nearest`."""
        told = await self.ask(calls.nearest_call(query, k, target, exclude, hardware))
        return calls.neighbours_of(told, query, target, self.url)

    async def exact(self, fingerprint: str, target: str = targets.DEFAULT) -> list[Record]:
        """See `Client.exact`."""
        told = await self.ask(calls.exact_call(fingerprint, target))
        return calls.records_of(told, fingerprint, target, self.url)

    async def missed(
        self, fingerprint: str, target: str = targets.DEFAULT, seconds: float = 0.0
    ) -> dict[str, Any]:
        """What has become of a nest that was asked for in vain: its `state` is "unknown", "missed",
        "waiting", "leased", "done" or "dead".

        Args:
            seconds: to wait for one of the last two.
        """
        until = time.monotonic() + seconds
        while True:
            left = until - time.monotonic()
            told = await self.ask(calls.missed_call(fingerprint, target, left))
            if calls.is_over(told) or left <= calls.LONGEST_POLL_S:
                return told

    async def contribute(self, record: Record) -> str:
        """See `Client.contribute`."""
        told = await self.ask(Call("POST", "/v1/records", {"record": record.to_json()}))
        return calls.status_of(told, self.url)

    async def report(self, reports: Sequence[Report]) -> list[str]:
        """See `Client.report`."""
        found: list[str] = []
        for part in calls.parts(reports):
            found += calls.statuses_of(await self.ask(calls.report_call(part)), part, self.url)
        return found

    async def export(self, after: str = "", target: str | None = None) -> AsyncIterator[Item]:
        """See `Client.export`."""
        export = Export(after, target, self._policy, self.url)
        while True:
            call = export.call
            try:
                async with asyncio.timeout(export.until - time.monotonic()):
                    request = _request(self._http, call)
                    response = await self._http.send(request, stream=True)
                async with aclosing(response):
                    pieces = aiter(response.aiter_raw())
                    answer = Answer(response.status_code, response.headers, b"")
                    if answer.status != 200:
                        async with asyncio.timeout(export.until - time.monotonic()):
                            answer = answer._replace(body=await self._unpacked(response, pieces))
                    wait = export.begun(answer)
                    while wait is None:
                        async with asyncio.timeout(export.until - time.monotonic()):
                            piece = await anext(pieces, None)
                        if piece is None:
                            export.end()
                            return
                        for item in export.feed(piece):
                            yield item
            except (*TROUBLE, TimeoutError) as error:
                wait = export.failed(error)
            await asyncio.sleep(wait)

    async def ask(self, call: Call) -> dict[str, Any]:
        """See `Client.ask`."""
        steps = asking(call, self._policy, self.url)
        came: Came = None
        try:
            while True:
                came = await self._do(steps.send(came))
        except StopIteration as end:
            return end.value

    async def _do(self, step: Step) -> Came:
        if not isinstance(step, tuple):
            return await asyncio.sleep(step)
        call, until = step
        try:
            async with asyncio.timeout(until - time.monotonic()):
                response = await self._http.send(_request(self._http, call), stream=True)
                async with aclosing(response):
                    body = await self._unpacked(response, response.aiter_raw())
        except (*TROUBLE, TimeoutError) as error:
            return error
        return Answer(response.status_code, response.headers, body)

    async def _unpacked(self, response: httpx.Response, pieces: AsyncIterator[bytes]) -> bytes:
        unpacker = Unpacker(response.headers, MAX_ANSWER, self.url)
        whole: list[bytes] = []
        async for piece in pieces:
            whole += unpacker.feed(piece)
        unpacker.end()
        return b"".join(whole)


def _options(url: str, token: str | None, policy: Policy) -> dict[str, Any]:
    """What an HTTP client is made with."""
    headers = calls.headers_for(url, token)
    return {"base_url": url, "headers": headers, "timeout": policy.timeout}


def _request(http: httpx.Client | httpx.AsyncClient, call: Call) -> httpx.Request:
    return http.build_request(call.method, call.path, json=call.body, params=call.query)
