"""Laws of `deploy/`: both files parse, name only settings that exist, hold no secret, and agree with the stack."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from settings import PREFIX, Settings
from stack.temporal import DYNAMIC_CONFIG, SEARCH_ATTRIBUTES

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
INSTRUCTIONS = {"FROM", "ENV", "RUN", "WORKDIR", "COPY", "USER", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT", "CMD"}
KNOWN = {PREFIX + name.upper() for name in Settings.model_fields}


def compose() -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return parsed


def dockerfile() -> list[list[str]]:
    """The instructions of the Dockerfile, each with its words."""
    text = re.sub(r"\\\n", " ", (DEPLOY / "Dockerfile").read_text())
    return [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def test_compose_brings_every_part_and_each_part_waits_for_what_it_needs() -> None:
    services = compose()["services"]
    assert {"postgres", "temporal", "temporal-ui", "migrate", "worker", "api"} <= services.keys()
    for name in ("api", "worker"):
        assert {"migrate", "temporal-setup"} <= services[name]["depends_on"].keys()
        assert "healthcheck" in services[name]
    assert all(set(service.get("depends_on", {})) <= services.keys() for service in services.values())


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "README.md"])
def test_every_interlock_variable_is_a_setting(name: str) -> None:
    named = set(re.findall(r"\bINTERLOCK_[A-Z_]*[A-Z]\b", (DEPLOY / name).read_text()))
    assert named
    assert named <= KNOWN


def test_whatever_must_be_set_says_what_is_needed_and_is_documented() -> None:
    text, told = (DEPLOY / "compose.yaml").read_text(), (DEPLOY / "README.md").read_text()
    wanted = re.findall(r"\$\{([A-Z_]+)(:\?|:-)?([^}]*)\}", text)
    assert all(how and what for _, how, what in wanted)
    assert all(f"`{name}`" in told for name, _, _ in wanted)


def test_no_secret_stands_in_clear() -> None:
    for service in compose()["services"].values():
        for name, value in service.get("environment", {}).items():
            if re.search(r"PASSWORD|PWD|KEY$|DATABASE.*URL", name):
                assert ":?" in value, name


def test_the_app_role_is_not_the_owner() -> None:
    services = compose()["services"]
    assert not {"INTERLOCK_DATABASE_OWNER_URL", "INTERLOCK_SHOP_WRITE_KEY"} & set(services["api"]["environment"])
    assert "INTERLOCK_DATABASE_OWNER_URL" not in services["worker"]["environment"]
    assert "//interlock_app:" in services["api"]["environment"]["INTERLOCK_DATABASE_URL"]


def test_the_namespace_gets_the_search_attributes_and_the_fairness_of_the_embedded_server() -> None:
    script = (DEPLOY / "temporal" / "namespace.sh").read_text()
    assert dict(re.findall(r"--name (\w+) --type (\w+)", script)) == dict(SEARCH_ATTRIBUTES)
    dynamic = yaml.safe_load((DEPLOY / "temporal" / "dynamic.yaml").read_text())
    assert {f"{key}={json.dumps(rows[0]['value'])}" for key, rows in dynamic.items()} == set(DYNAMIC_CONFIG)


def test_the_dockerfile_parses_and_runs_as_nobody_special() -> None:
    lines = dockerfile()
    assert {line[0] for line in lines} <= INSTRUCTIONS
    assert [line[1] for line in lines if line[0] == "FROM"] == ["python:3.11-slim", "python:3.11-slim"]
    assert [line[1] for line in lines if line[0] == "USER"] == ["10001:10001"]
    assert "--require-hashes" in (DEPLOY / "Dockerfile").read_text()


def test_the_image_takes_in_everything_that_the_package_is_made_of() -> None:
    taken = {line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[:1] == "!"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    rooms = {name.removesuffix("*") for name in project["tool"]["setuptools"]["packages"]["find"]["include"]}
    assert rooms | {"requirements.txt", "pyproject.toml", "*.py"} <= taken


def test_docker_compose_reads_the_file() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("no docker command with compose here")
    names = re.findall(r"\$\{([A-Z_]+):\?", (DEPLOY / "compose.yaml").read_text())
    given = {**dict.fromkeys(names, "set-for-the-test"), "PATH": str(Path(docker).parent)}
    command = [docker, "compose", "--profile", "demo", "config", "--quiet"]
    done = subprocess.run(command, cwd=DEPLOY, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
