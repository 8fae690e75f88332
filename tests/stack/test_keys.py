"""Laws of the dev issuer: one key per data folder, tokens that its public half verifies."""

import json
import stat
from pathlib import Path
from typing import Any

import jwt
import pytest

from stack import keys
from stack.faults import StackFault
from stack.layout import DataDir


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    data = DataDir.at(tmp_path)
    keys.ensure(data)
    return data


def read(data: DataDir, token: str) -> dict[str, Any]:
    jwks = jwt.PyJWKSet.from_json((data.keys / "jwks.json").read_text())
    key = jwks[jwt.get_unverified_header(token)["kid"]]
    claims: dict[str, Any] = jwt.decode(token, key, algorithms=["ES256"], audience="interlock", issuer="interlock-dev")
    return claims


def test_a_token_says_who_calls_and_of_which_tenant(data: DataDir) -> None:
    claims = read(data, keys.mint(data, "staff", "acme", "agent-1", 60))
    assert (claims["sub"], claims["tenant"], claims["kind"]) == ("agent-1", "acme", "staff")
    assert claims["exp"] - claims["iat"] == 60
    assert claims["nbf"] == claims["iat"]


def test_no_two_tokens_are_alike(data: DataDir) -> None:
    assert (
        read(data, keys.mint(data, "staff", "a", "b", 60))["jti"]
        != read(data, keys.mint(data, "staff", "a", "b", 60))["jti"]
    )


def test_an_expired_token_can_be_made_for_a_test(data: DataDir) -> None:
    with pytest.raises(jwt.ExpiredSignatureError):
        read(data, keys.mint(data, "customer", "acme", "c-1", -5))


def test_the_key_is_made_once(data: DataDir) -> None:
    before = {path.name: path.read_bytes() for path in data.keys.iterdir()}
    keys.ensure(data)
    assert {path.name: path.read_bytes() for path in data.keys.iterdir()} == before


def test_the_private_key_is_private_and_the_set_holds_no_private_part(data: DataDir) -> None:
    assert stat.S_IMODE((data.keys / "signing.pem").stat().st_mode) == 0o600
    assert all("d" not in key for key in json.loads((data.keys / "jwks.json").read_text())["keys"])


def test_a_lost_key_set_is_made_again_from_the_key(data: DataDir) -> None:
    before = (data.keys / "jwks.json").read_text()
    (data.keys / "jwks.json").unlink()
    keys.ensure(data)
    assert (data.keys / "jwks.json").read_text() == before


def test_without_a_key_the_fault_says_what_makes_one(tmp_path: Path) -> None:
    with pytest.raises(StackFault, match="has no signing key"):
        keys.mint(DataDir.at(tmp_path), "customer", "acme", "c-1", 60)


def test_a_damaged_key_is_told(data: DataDir) -> None:
    (data.keys / "signing.pem").write_text("not a key")
    with pytest.raises(StackFault, match="cannot be read as a key"):
        keys.mint(data, "customer", "acme", "c-1", 60)


@pytest.mark.parametrize(("tenant", "ident"), [("", "x"), ("x", " ")])
def test_a_token_is_for_somebody(data: DataDir, tenant: str, ident: str) -> None:
    with pytest.raises(StackFault, match="needs a tenant and an id"):
        keys.mint(data, "customer", tenant, ident, 60)
