"""`loopbook.Client` and `loopbook.AsyncClient`: a server's book by HTTP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Collection, Iterator
from typing import Any

import httpx

from loopbook.client.remote import calls
from loopbook.client.remote.calls import Call
from loopbook.client.remote.flows import Came, Export, Item, Policy, asking
from loopbook.recipes.book import Neighbour
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import Record


class Client:
    """A server's book. Safe to share between threads.

    Args:
        url: base address, such as ``http://127.0.0.1:8080``; default ``$LOOPBOOK_SERVER``.
        token: default ``$LOOPBOOK_TOKEN``, else ``$DOCC_ACCESS_TOKEN``.
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
        self._http = httpx.Client(**_options(self.url, token, self._policy, verify))

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
        target: str = "sequential",
        exclude: Collection[str] = (),
        hardware: HardwareProfile | None = None,
    ) -> list[Neighbour]:
        """The records nearest to an embedded nest, nearest first.

        Args:
            exclude: kernels to leave out.
            hardware: the machine that the recipe is for; None leaves that to the server.
        """
        told = self.ask(calls.nearest_call(query, k, target, exclude, hardware))
        return calls.neighbours_of(told, self.url)

    def exact(self, fingerprint: str, target: str = "sequential") -> list[Record]:
        """The records of one very nest."""
        return calls.records_of(self.ask(calls.exact_call(fingerprint, target)), self.url)

    def contribute(self, record: Record) -> str:
        """Give a record: "quarantine", "promoted", or "known" if the server has it already."""
        told = self.ask(Call("POST", "/v1/records", {"record": record.to_json()}))
        return str(told.get("status", ""))

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
                with self._http.stream(call.method, call.path, params=call.query) as response:
                    if response.status_code != 200:
                        response.read()
                    wait = export.begun(response)
                    if wait is None:
                        for piece in response.iter_bytes():
                            yield from export.feed(piece)
                        export.end()
                        return
            except httpx.TransportError as error:
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

    def _do(self, step: Call | float) -> Came:
        if isinstance(step, float):
            return time.sleep(step)
        try:
            return self._http.request(step.method, step.path, json=step.body, params=step.query)
        except httpx.TransportError as error:
            return error


class AsyncClient:
    """`Client` for asyncio; see there."""

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
        self._http = httpx.AsyncClient(**_options(self.url, token, self._policy, verify))

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
        target: str = "sequential",
        exclude: Collection[str] = (),
        hardware: HardwareProfile | None = None,
    ) -> list[Neighbour]:
        """See `Client.nearest`."""
        told = await self.ask(calls.nearest_call(query, k, target, exclude, hardware))
        return calls.neighbours_of(told, self.url)

    async def exact(self, fingerprint: str, target: str = "sequential") -> list[Record]:
        """See `Client.exact`."""
        return calls.records_of(await self.ask(calls.exact_call(fingerprint, target)), self.url)

    async def contribute(self, record: Record) -> str:
        """See `Client.contribute`."""
        told = await self.ask(Call("POST", "/v1/records", {"record": record.to_json()}))
        return str(told.get("status", ""))

    async def export(self, after: str = "", target: str | None = None) -> AsyncIterator[Item]:
        """See `Client.export`."""
        export = Export(after, target, self._policy, self.url)
        while True:
            call = export.call
            try:
                async with self._http.stream(call.method, call.path, params=call.query) as response:
                    if response.status_code != 200:
                        await response.aread()
                    wait = export.begun(response)
                    if wait is None:
                        async for piece in response.aiter_bytes():
                            for item in export.feed(piece):
                                yield item
                        export.end()
                        return
            except httpx.TransportError as error:
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

    async def _do(self, step: Call | float) -> Came:
        if isinstance(step, float):
            return await asyncio.sleep(step)
        call = self._http.request(step.method, step.path, json=step.body, params=step.query)
        try:
            return await call
        except httpx.TransportError as error:
            return error


def _options(url: str, token: str | None, policy: Policy, verify: Any) -> dict[str, Any]:
    """What an HTTP client is made with."""
    return {
        "base_url": url,
        "headers": calls.access_headers(token),
        "timeout": policy.timeout,
        "verify": verify,
    }
