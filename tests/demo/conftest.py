"""Starts the real shop as a process of its own and speaks HTTP to it, as everything outside does.

Keys, waiting and killing live here, so that the tests read as laws.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).parents[2]
READ, WRITE = "read-key", "write-key"
Json = dict[str, Any]


class ShopProcess:
    """One shop on a free port, over a data file that outlives the process."""

    def __init__(self, home: Path, *options: str) -> None:
        self.home, self.options = home, options
        self.start()

    def command(self, *more: str) -> list[str]:
        keys = ["--read-key", READ, "--write-key", WRITE]
        return [sys.executable, "-m", "demo.shop", "--data", str(self.home / "shop.db"), *keys, *self.options, *more]

    def start(self) -> None:
        ready = self.home / "ready.json"
        ready.unlink(missing_ok=True)
        log = (self.home / "log").open("ab")
        with log:
            command = self.command("--ready-file", str(ready))
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        until(lambda: ready.exists() or self.process.poll() is not None)
        assert ready.exists(), (self.home / "log").read_text()
        self.http = httpx.Client(base_url=json.loads(ready.read_text())["url"], timeout=30)

    def end(self, number: int = signal.SIGTERM) -> int:
        self.http.close()
        self.process.send_signal(number)
        return self.process.wait(10)

    def get(self, path: str, key: str = READ) -> httpx.Response:
        return self.http.get(path, headers={"Authorization": f"Bearer {key}"})

    def write(self, path: str, body: Json, **headers: str) -> httpx.Response:
        sent = {"Authorization": f"Bearer {WRITE}", "Idempotency-Key": str(body["operation_id"]), **headers}
        return self.http.post(path, json=body, headers=sent)

    def refund(self, tenant: str, body: Json) -> httpx.Response:
        return self.write(f"/tenants/{tenant}/refunds", body)

    def arm(self, mode: str, times: int = 1, operation: str = "refund") -> None:
        assert self.http.post("/_faults", json=fault(operation, mode, times)).status_code == 201

    def effects(self, operation_id: str | None = None) -> list[Json]:
        found: list[Json] = self.http.get("/_effects").json()["effects"]
        return [effect for effect in found if operation_id in (None, effect["operation_id"])]

    def lookup(self, tenant: str, operation_id: str) -> httpx.Response:
        return self.get(f"/tenants/{tenant}/operations/{operation_id}")

    def account(self, tenant: str, customer: str) -> Json:
        found: Json = self.get(f"/tenants/{tenant}/customers/{customer}/account").json()
        return found

    def customers(self, kind: str) -> Iterator[tuple[str, Json]]:
        for tenant in self.http.get("/_world").json()["tenants"]:
            if tenant["kind"] == kind:
                yield from ((tenant["id"], customer) for customer in tenant["customers"])

    def refundable(self, status: str = "delivered") -> tuple[str, Json, Json]:
        """A tenant, a refund of all of an order that is still refundable, and that order."""
        for tenant, customer in self.customers("marketplace"):
            for order in customer["orders"]:
                if order["status"] == status and order["captured_minor"] > order["refunded_minor"]:
                    return tenant, refund_of(customer, order), order
        raise AssertionError(status)


def until(holds: Callable[[], bool], seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def fault(operation: str, mode: str, times: int) -> Json:
    return {"operation": operation, "mode": mode, "times": times}


def refund_of(customer: Json, order: Json, **other: Any) -> Json:
    return {
        "operation_id": f"op-{uuid.uuid4()}",
        "customer_id": customer["id"],
        "order_id": order["id"],
        "payment_id": None,
        "amount_minor": order["captured_minor"] - order["refunded_minor"],
        "currency": order["currency"],
        "expected_version": order["version"],
        **other,
    }


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShopProcess]:
    process = ShopProcess(tmp_path_factory.mktemp("shop"))
    yield process
    process.end()


@pytest.fixture
def shop(running: ShopProcess) -> ShopProcess:
    """A running shop with a fresh world."""
    assert running.http.post("/_reset").status_code == 200
    return running


@pytest.fixture
def own_shop(tmp_path: Path) -> Iterator[Callable[..., ShopProcess]]:
    """Starts shops that a test may kill, with options of its own."""
    started: list[ShopProcess] = []

    def start(*options: str, home: Path = tmp_path) -> ShopProcess:
        started.append(ShopProcess(home, *options))
        return started[-1]

    yield start
    for process in started:
        if process.process.poll() is None:
            process.end(signal.SIGKILL)
        process.http.close()
