"""A whole product for tests: `interlock dev` as its users start it, and callers that speak only HTTP to it.

One stack serves every test of this room; each test brings its own customer and its own order.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

ROOT = Path(__file__).parents[2]
READY_WITHIN_S = 240
PORTS = ("--api-port", "--shop-port", "--temporal-port", "--temporal-ui-port", "--postgres-port")


@dataclass
class Product:
    """A running stack and the tokens that its dev issuer has made."""

    data_dir: Path
    http: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=30))
    tokens: dict[tuple[str, str, str], str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    @property
    def ready(self) -> dict[str, Any]:
        """The ready file as it is now."""
        found: dict[str, Any] = json.loads((self.data_dir / "ready.json").read_text())
        return found

    def token(self, kind: str, tenant: str, ident: str) -> str:
        """A token, made by the command that a person would use."""
        key = (kind, tenant, ident)
        if key not in self.tokens:
            words = ["token", kind, "--tenant", tenant, "--id", ident, "--data-dir", str(self.data_dir)]
            made = subprocess.run([sys.executable, "-m", "cli", *words], cwd=ROOT, capture_output=True, check=True)
            self.tokens[key] = made.stdout.decode().strip()
        return self.tokens[key]

    def call(self, method: str, path: str, token: str, body: Any = None) -> httpx.Response:
        """One request to the api."""
        url = f"{self.ready['api_url']}{path}"
        return self.http.request(method, url, json=body, headers={"Authorization": f"Bearer {token}"})

    def shop(self, method: str, path: str, body: Any = None) -> Any:
        """One request to the demo shop."""
        answer = self.http.request(method, f"{self.ready['shop_url']}{path}", json=body)
        answer.raise_for_status()
        return answer.json()

    def effects(self, operation_id: str) -> list[dict[str, Any]]:
        """What the shop has done for one operation."""
        found = self.shop("GET", "/_effects")["effects"]
        return [e for e in found if e["operation_id"] == operation_id]

    def two_orders(self) -> tuple[str, str, list[str]]:
        """A tenant, a customer and two small delivered orders of theirs that no other test has had."""
        for tenant in self.shop("GET", "/_world")["tenants"]:
            for customer in tenant["customers"]:
                small = [o["id"] for o in customer["orders"] if _small(o) and o["id"] not in self.used]
                if len(small) >= 2:
                    self.used.update(small[:2])
                    return tenant["id"], customer["id"], small[:2]
        self.used.clear()
        self.shop("POST", "/_reset")
        return self.two_orders()


def _small(order: dict[str, Any]) -> bool:
    left: int = order["captured_minor"] - order["refunded_minor"]
    return order["status"] == "delivered" and 0 < left <= 5_000


@contextmanager
def running(data_dir: Path, *options: str, told: Mapping[str, str] | None = None) -> Iterator[Product]:
    """Start the whole product, with further options and variables, and stop it cleanly."""
    ports = [word for port in PORTS for word in (port, "0")]
    words = [sys.executable, "-m", "cli", "dev", "--data-dir", str(data_dir), "--no-ui", *ports, *options]
    env = {**os.environ, **(told or {})}
    with (
        (data_dir.parent / "dev.log").open("wb") as log,
        subprocess.Popen(words, cwd=ROOT, env=env, stdout=log, stderr=log) as dev,
    ):
        try:
            _until_ready(dev, data_dir)
            product = Product(data_dir)
            yield product
            product.http.close()
        finally:
            dev.terminate()
            dev.wait(60)


def _until_ready(dev: subprocess.Popen[bytes], data_dir: Path) -> None:
    end = time.monotonic() + READY_WITHIN_S
    while not (data_dir / "ready.json").exists():
        if dev.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"interlock dev did not come up:\n{(data_dir.parent / 'dev.log').read_text()}")
        time.sleep(0.1)


class Chat:
    """One conversation as a chat service sees it."""

    def __init__(self, product: Product, tenant: str, customer: str) -> None:
        self.product, self.tenant = product, tenant
        self.token = product.token("customer", tenant, customer)
        self.id = product.call("POST", "/conversations", self.token, {}).json()["id"]

    def say(self, text: str) -> httpx.Response:
        """The customer writes."""
        body = {"client_message_id": str(uuid4()), "text": text}
        return self.product.call("POST", f"/conversations/{self.id}/messages", self.token, body)

    def decide(self, operation_id: str, decision: str) -> httpx.Response:
        """The customer decides on what stands there now."""
        digest = self.action(operation_id)["payload_digest"]
        body = {"payload_digest": digest, "decision": decision}
        return self.product.call("POST", f"/actions/{operation_id}/approvals", self.token, body)

    def staff(self, who: str, what: str, **more: Any) -> httpx.Response:
        """A person acts on the conversation."""
        token = self.product.token("staff", self.tenant, who)
        return self.product.call("POST", f"/conversations/{self.id}/{what}", token, more)

    def view(self) -> dict[str, Any]:
        """The conversation as the customer sees it."""
        found: dict[str, Any] = self.product.call("GET", f"/conversations/{self.id}", self.token).json()
        return found

    def action(self, operation_id: str) -> dict[str, Any]:
        """One action of it."""
        found: dict[str, Any] = self.product.call("GET", f"/actions/{operation_id}", self.token).json()
        return found

    def events(self) -> list[dict[str, Any]]:
        """The whole log."""
        found: list[dict[str, Any]] = self.product.call(
            "GET", f"/conversations/{self.id}/events?after=0", self.token
        ).json()["events"]
        return found
