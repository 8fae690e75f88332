"""Laws of the documents: what can be set, called or decided stands in them, and every link leads somewhere."""

import re
from itertools import chain
from pathlib import Path

import pytest
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from typer.models import CommandInfo

import cli
from domain.action import ActionKind, ActionState
from domain.conversation import EventKind
from gateway.app import routes
from gateway.explanations import known_refusals
from policy.bundle import DEFAULT_DENY, EVALUATION_ERROR, Bundle
from settings import PREFIX, Settings
from stack.temporal import SEARCH_ATTRIBUTES

ROOT = Path(__file__).parents[1]
DOCS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/*.md")])
UNITS = {
    "_per_minute_max": "per minute",
    "_per_second_max": "per second",
    "_bytes_max": "bytes",
    "_chars_max": "characters",
    "_messages_max": "messages",
    "_principal_max": "streams",
    "_size": "connections",
    "_s": "seconds",
}
INVARIANTS = range(1, 13)
TEST_PARTS = ("ATTACKS", "CHROMIUM", "DATABASE_URL", "MODEL_NAME", "MODEL_URL", "RETAIL")
TEST_VARIABLES = {f"INTERLOCK_TEST_{name}" for name in TEST_PARTS}


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def commands() -> set[str]:
    """Every command, with its group before it where it has one."""
    found = {named_command(command) for command in cli.app.registered_commands}
    for group in cli.app.registered_groups:
        app = group.typer_instance
        assert app is not None
        if app.info.invoke_without_command is True:  # the group's name alone does something, too
            found.add(str(app.info.name))
        found |= {f"{app.info.name} {named_command(command)}" for command in app.registered_commands}
    return found


def named_command(command: CommandInfo) -> str:
    return str(command.name or getattr(command.callback, "__name__", ""))


def default_of(field: FieldInfo) -> str:
    match field.default:
        case None:
            return "(none)"
        case bool():
            return f"`{str(field.default).lower()}`"
        case float():
            return f"`{field.default:g}`"
        case found:
            return "(must be set)" if found is PydanticUndefined else f"`{found}`"


def row_of(name: str, field: FieldInfo) -> str:
    """The row of a setting as `docs/configuration.md` has to have it."""
    unit = next((unit for end, unit in UNITS.items() if name.endswith(end)), "")
    return f"| `{PREFIX}{name.upper()}` | {default_of(field)} | {unit} | {field.description} |"


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_has_its_row_with_default_and_unit(name: str) -> None:
    assert row_of(name, Settings.model_fields[name]) in read("docs/configuration.md").splitlines()


def test_no_setting_is_documented_that_is_not_there() -> None:
    told = set(re.findall(r"^\| `INTERLOCK_([A-Z_]+)`", read("docs/configuration.md"), re.MULTILINE))
    assert {name.lower() for name in told} == set(Settings.model_fields)


def test_a_setting_that_nothing_reads_is_said_to_be_unread() -> None:
    readers = [path for path in chain(ROOT.glob("*.py"), ROOT.glob("gateway/**/*.py")) if path.name != "settings.py"]
    code = "\n".join(path.read_text("utf-8") for path in readers).replace(".owner_url", ".database_owner_url")
    code = code.replace(".relay_url", ".database_relay_url")
    unread = {name for name in Settings.model_fields if not re.search(rf"\b(?:settings|told)\.{name}\b", code)}
    told = read("docs/configuration.md").partition("## Not read yet")[2]
    assert {name.lower() for name in re.findall(r"`INTERLOCK_([A-Z_]+)`", told)} == unread


@pytest.mark.parametrize("route", routes(), ids=lambda route: f"{min(route.methods)} {route.path}")
def test_every_route_is_documented(route: object) -> None:
    method, path = min(getattr(route, "methods", ())), getattr(route, "path", "")
    assert f"`{method} {path}`" in read("docs/http.md")


def test_no_route_is_documented_that_is_not_there() -> None:
    told = set(re.findall(r"`((?:GET|POST|PUT|DELETE) /[^`]*)`", read("docs/http.md")))
    assert told == {f"{method} {route.path}" for route in routes() for method in route.methods or ()}


def test_every_problem_is_documented_with_its_status() -> None:
    told = dict(re.findall(r"^\| `([a-z-]+)` \| (\d{3}) \|", read("docs/http.md"), re.MULTILINE))
    assert told == {slug: str(kind.status) for slug, kind in known_refusals().items()}


@pytest.mark.parametrize("word", [*ActionKind, *ActionState, *EventKind])
def test_every_kind_of_action_and_event_and_every_state_is_documented(word: str) -> None:
    assert f"`{word}`" in read("docs/http.md")


def test_every_rule_of_the_base_policy_is_put_in_plain_words() -> None:
    told = set(re.findall(r"^\| `([a-z-]+)` \|", read("docs/policy.md"), re.MULTILINE))
    assert told == Bundle.load().rule_ids
    assert all(f"`{ident}`" in read("docs/policy.md") for ident in (DEFAULT_DENY, EVALUATION_ERROR))


def test_every_make_target_is_documented_and_no_other() -> None:
    targets = set(re.findall(r"^([a-z]+):.*## ", read("Makefile"), re.MULTILINE))
    assert set(re.findall(r"^\| `make ([a-z]+)` \|", read("docs/development.md"), re.MULTILINE)) == targets


def test_every_command_is_documented_and_no_other() -> None:
    told = re.findall(r"^\| `interlock ([a-z]+(?: [a-z]+)?)` \|", read("docs/development.md"), re.MULTILINE)
    assert set(told) == commands()


@pytest.mark.parametrize("path", DOCS, ids=named)
def test_no_document_speaks_of_a_command_that_is_not_there(path: Path) -> None:
    groups = {name.partition(" ")[0] for name in commands() if " " in name}
    told = re.findall(r"(?:`|^|\$\(|\$ )interlock ([a-z]+)(?: ([a-z]+)\b)?", path.read_text("utf-8"), re.MULTILINE)
    assert {f"{word} {after}".strip() if word in groups else word for word, after in told} <= commands()


def test_every_line_of_the_log_that_is_explained_is_written_somewhere() -> None:
    told = re.findall(r"^\| `([a-z]+\.[a-z_]+)` \|", read("docs/operations.md"), re.MULTILINE)
    code = "\n".join(path.read_text("utf-8") for path in chain(ROOT.glob("*.py"), ROOT.glob("[a-z]*/**/*.py")))
    assert told
    assert [name for name in told if f'"{name}"' not in code] == []


@pytest.mark.parametrize("name", SEARCH_ATTRIBUTES)
def test_every_search_attribute_is_documented(name: str) -> None:
    assert f"`{name}`" in read("docs/operations.md")


@pytest.mark.parametrize("path", DOCS, ids=named)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", path.read_text("utf-8"))
    relative = [target.partition("#")[0] for target in targets if "://" not in target and target[0] != "#"]
    assert [target for target in relative if not (path.parent / target).exists()] == []


@pytest.mark.parametrize("path", DOCS, ids=named)
def test_every_variable_in_a_document_is_a_setting(path: Path) -> None:
    told = set(re.findall(r"\bINTERLOCK_[A-Z_]*[A-Z]\b", path.read_text("utf-8")))
    assert told <= {PREFIX + name.upper() for name in Settings.model_fields} | TEST_VARIABLES


def test_every_invariant_names_the_tests_that_hold_it() -> None:
    rows = re.findall(r"^\| (\d+) \|.*$", read("ARCHITECTURE.md"), re.MULTILINE)
    assert [int(row) for row in rows] == list(INVARIANTS)


def test_every_test_that_the_architecture_names_is_there() -> None:
    named_tests = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", read("ARCHITECTURE.md"))
    assert len(named_tests) >= len(INVARIANTS)
    missing = [f"{file}::{test}" for file, test in named_tests if f"def {test}(" not in read(file)]
    assert missing == []


def test_every_room_is_on_the_page() -> None:
    rooms = {path.parent.name for path in ROOT.glob("[a-z]*/__init__.py")}
    assert {room for room in rooms if f"`{room}/`" not in read("ARCHITECTURE.md")} == set()


def test_the_decisions_are_numbered_without_a_gap() -> None:
    numbers = [int(path.name[:4]) for path in sorted((ROOT / "docs" / "decisions").glob("*.md"))]
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_licence_is_the_apache_licence_in_full() -> None:
    text = read("LICENSE")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert all(f"\n   {n}. " in text for n in chain(range(1, 10)))
