"""What loads as a bundle or as a tenant's layer, and what does not: the file, the line, and what would be right."""

import json
from pathlib import Path

import pytest

from domain.verdict import VerdictKind
from policy.bundle import BASE, Bundle, BundleInvalid, read_folder, unread
from policy.engine import PolicyEngine
from policy.examining.conflicts import conflicts_of
from policy.manifest import Facts
from tests.policy import worlds as w
from tests.policy.rulebooks import SCHEMA, manifest

YES = '// All of it.\n\n@id("yes")\npermit (principal, action, resource);\n'
NO = '@id("no")\nforbid (principal, action, resource)\nwhen { context.amount_minor > 100 };\n'
FILES = {"manifest.json": manifest(), "schema.cedarschema": SCHEMA, "a.cedar": YES, "b.cedar": NO}
REFUND = '(principal, action == Action::"refund", resource)'


def rule(condition: str, scope: str = REFUND) -> str:
    return f'@id("a")\nforbid {scope}\nwhen {{\n  context.urgent &&\n  {condition}\n}};\n'


def refused(files: dict[str, str]) -> BundleInvalid:
    with pytest.raises(BundleInvalid) as caught:
        Bundle.parse(files)
    assert str(caught.value) == f"{caught.value.file}:{caught.value.line}: {caught.value.wrong}; {caught.value.right}"
    return caught.value


def test_a_bundle_is_all_its_rules_in_the_order_of_its_files() -> None:
    bundle = Bundle.parse(FILES)
    assert [(r.id, r.file, r.line, r.permits) for r in bundle.rules] == [
        ("yes", "a.cedar", 3, True), ("no", "b.cedar", 1, False)
    ]  # fmt: skip
    assert (bundle.base, bundle.facts, bundle.rule_ids) == (None, Facts.ACCOUNT, frozenset({"yes", "no"}))


@pytest.mark.parametrize(
    ("text", "line", "wrong", "right"),
    [
        ("permit (principal, action, resource);", 3, "no @id", '@id("…")'),
        ('@id("A b") permit (principal, action, resource);', 3, "the @id 'A b'", "a–z"),
        ('@id("t") permit (principal == ?principal, action, resource);', 3, "a template", "without a ?"),
        ("permit permit", 3, "has no end", "end it with ;"),
        ('@id("a") permit (principal, action, resource)\nwhen { context.status == "x };', 4, "a string", "close"),
        ('@id("a")\npermit (principal, actoin, resource);', 4, "actoin", "is a rule"),
        ('@id("a")\npermit (principal, action, resource) when {\n context.amount_minor = 1 };', 5, "'='", "is a rule"),
        ("permit;", 3, "cannot read", "is a rule"),
        (rule("context.statsu == 1"), 7, "attribute `statsu`", "such as status"),
        (rule('principal.status == "x"'), 7, "`status` on entity type", "elsewhere, such as context.status"),
        (rule("context.amount_minor == 1.5"), 7, "cannot read", "is a rule"),
        (rule('context.amount_minor == "x"'), 3, "not compatible", "of one type"),
        (rule("context.amount_minor < context.status"), 3, "expected Long but saw String", "of the type"),
        (rule('context.note == "x"'), 7, "optional attribute `note`", "ask for it first"),
        (rule("true", '(principal, action == Action::"fly", resource)'), 4, "unrecognized action", "refund"),
        (rule("true", '(principal is Custmer, action == Action::"refund", resource)'), 4, "`Custmer`", "Customer"),
        (rule("true", '(principal is Tool, action == Action::"refund", resource)'), 3, "applicable", "applies to"),
    ],
)  # fmt: skip
def test_a_rule_that_is_wrong_is_told_with_its_line(text: str, line: int, wrong: str, right: str) -> None:
    before = NO.replace("\n", " ") + "\n// Then:\n"
    fault = refused({**FILES, "a.cedar": before + text, "b.cedar": YES})
    assert (fault.file, fault.line) == ("a.cedar", line)
    assert wrong in fault.wrong
    assert right in fault.right


@pytest.mark.parametrize(
    ("condition", "right"),
    [
        ('context.approvals.contains("manger")', "is it manager?"),
        ('["customer", "boss"].containsAll(context.approvals)', "customer, manager, finance"),
        ('!(context.approvals.containsAny(["finance", "Customer"]))', "is it customer?"),
        ('context.approvals == ["mia"]', "customer, manager, finance"),
    ],
)
def test_a_role_that_nobody_has_is_told_with_its_line(condition: str, right: str) -> None:
    fault = refused(
        {**FILES, "b.cedar": rule(f'context.status != "mia" &&\n  {condition}').replace('"mia" &&', '"x" &&')}
    )
    assert (fault.file, fault.line, "a role that nobody has" in fault.wrong) == ("b.cedar", 6, True)
    assert right in fault.right
    with pytest.raises(BundleInvalid, match="a role that nobody has"):
        Bundle.layered(Bundle.parse(FILES), {"manifest.json": told(), "own.cedar": rule(condition)})


def test_texts_that_are_no_roles_may_be_compared_with_all_else() -> None:
    condition = 'context.approvals.contains("manager") && ["manger"].contains(context.status)'
    assert "a" in Bundle.parse({**FILES, "b.cedar": rule(condition)}).rule_ids


def test_what_is_not_read_of_a_folder_is_told(tmp_path: Path) -> None:
    for name in (
        "manifest.json",
        "a.cedar",
        "README.md",
        ".hidden",
        "a.cedar~",
        "refunds.txt",
        "B.CEDAR",
        "cases.json",
    ):
        (tmp_path / name).touch()
    (tmp_path / "rules").mkdir()
    assert unread(tmp_path) == ("B.CEDAR", "cases.json", "refunds.txt", "rules")
    assert unread(tmp_path / "nowhere") == ()


NESTED = {
    "brackets": "(" * 3000 + "true" + ")" * 3000,
    "lists": "[" * 3000 + "]" * 3000 + ".isEmpty()",
    "a chain": " && ".join(["true"] * 60),
    "a long chain": " || ".join(["true"] * 1500),
    "a long text": " " * 21_000 + "true",
}


@pytest.mark.parametrize("name", NESTED)
def test_a_rule_that_would_bring_the_parser_down_never_reaches_it(name: str) -> None:
    fault = refused({**FILES, "b.cedar": rule(NESTED[name])})
    assert fault.file == "b.cedar"
    assert "too deep" in fault.wrong or "characters" in fault.wrong
    assert "at most" in fault.right


def test_a_rule_as_deep_as_may_be_loads_and_is_searched_for_conflicts() -> None:
    chain = " && ".join(['["a"].contains(context.status)'] * 49)
    book = Bundle.parse({**FILES, "b.cedar": rule(chain)})
    assert conflicts_of(book).tried > 0
    fault = refused({**FILES, "schema.cedarschema": "type T = " + "{a: " * 3000 + "Long" + "}" * 3000 + ";"})
    assert (fault.file, fault.wrong) == ("schema.cedarschema", "brackets nest too deep here")
    assert "too deep" in refused({**FILES, "manifest.json": "[" * 100_000 + "]" * 100_000}).wrong


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("no", "taken by the rule in a.cedar:3"), ("default-deny", "taken"), ("evaluation-error", "taken")],
)
def test_a_rule_id_is_taken_once(name: str, wrong: str) -> None:
    fault = refused({**FILES, "a.cedar": YES.replace("yes", "no"), "b.cedar": YES.replace("yes", name)})
    assert (fault.file, fault.line, fault.right) == ("b.cedar", 3, "give the rule an id of its own")
    assert wrong in fault.wrong


@pytest.mark.parametrize(
    ("text", "line", "wrong"),
    [
        ("entity A;\nentity entity", 2, "unexpected end"),
        ("entity A;\n\n// A type.\nentity B\n  in [Q];", 5, "Q"),
        ("entity A; // one\ntype T = {\n  x: Lomg,\n};", 3, "Lomg"),
        ("entity A;\nentity A;", 1, "declared twice"),
        ('entity A;\naction "x" appliesTo { principal: A, resource: A, context: {} };', 2, "no approvals"),
    ],
)
def test_a_schema_that_is_wrong_is_told_with_its_line(text: str, line: int, wrong: str) -> None:
    fault = refused({**FILES, "schema.cedarschema": text})
    assert (fault.file, fault.line) == ("schema.cedarschema", line)
    assert wrong in fault.wrong


def changed(**fields: object) -> str:
    return json.dumps({**json.loads(manifest()), **fields}, indent=1)


@pytest.mark.parametrize(
    ("text", "line", "wrong"),
    [
        ('{\n"id": "x",,\n}', 2, "not JSON"),
        ("[]", 1, "not a JSON object"),
        ('{"id": ' + "9" * 5_000 + "}", 1, "too long"),
        ('{"id": "x", "version": "1", "author": "a", "effective_from": "2025-01-01T00:00:00Z"}', 1, "changed"),
        (changed(effective_from="2025-01-01T00:00:00"), 2, "timezone"),
        (changed(effective_until="2024-01-01T00:00:00Z"), 7, "is not after effective_from"),
        (changed(version=2), 4, "version: "),
        (changed(autor="x"), 7, "no field autor"),
        (changed(withdraws=["yes"]), 7, "for a tenant's layer"),
        (changed(tenant="lumen"), 7, "go together"),
        (changed(tenant="lumen", base="base"), 1, "is a tenant's layer"),
        (changed(facts="weather"), 7, "facts: "),
    ],
)  # fmt: skip
def test_a_manifest_that_is_wrong_is_told_with_its_line(text: str, line: int, wrong: str) -> None:
    fault = refused({**FILES, "manifest.json": text})
    assert (fault.file, fault.line) == ("manifest.json", line)
    assert wrong in fault.wrong


def test_a_bundle_is_made_of_its_files_and_no_others(tmp_path: Path) -> None:
    for name in ("manifest.json", "schema.cedarschema"):
        assert refused({k: v for k, v in FILES.items() if k != name}).file == name
    assert "no rule" in refused({k: v for k, v in FILES.items() if not k.endswith(".cedar")}).wrong
    assert refused({**FILES, "policies.ceder": YES}).file == "policies.ceder"
    with pytest.raises(BundleInvalid, match="cannot be read"):
        Bundle.load(tmp_path / "nowhere")
    (tmp_path / "manifest.json").write_bytes(b"{\n\xff}")
    with pytest.raises(BundleInvalid, match=r"manifest\.json:2: not UTF-8"):
        Bundle.load(tmp_path)


def test_a_folder_is_read_whatever_lies_beside_the_bundle(tmp_path: Path) -> None:
    for name, text in {**FILES, "README.md": "Read me."}.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert Bundle.load(tmp_path).files == FILES


@pytest.mark.parametrize("name", ["manifest.json", "schema.cedarschema", "a.cedar"])
def test_the_digest_covers_every_file_that_decides(name: str) -> None:
    bundle = Bundle.parse(FILES)
    assert Bundle.parse({**FILES, name: FILES[name] + "\n"}).digest != bundle.digest
    assert Bundle.parse({**FILES, "cases.jsonl": ""}).digest == bundle.digest == Bundle.parse(bundle.files).digest


def test_a_bundle_of_the_first_release_still_loads() -> None:
    told = json.loads(manifest())
    told["notes"] = told.pop("changed")
    assert Bundle.parse({**FILES, "manifest.json": json.dumps(told)}).manifest.changed == "all of it"


# ---- a tenant's layer ----

OWN = '@id("own")\nforbid (principal, action, resource)\nwhen { context.status == "blocked" };\n'


def told(**more: object) -> str:
    return manifest(**{"id": "lumen", "tenant": "lumen", "base": "made-up", **more})


def test_a_layer_is_its_base_without_what_it_withdraws_and_with_its_own() -> None:
    base = Bundle.parse(FILES)
    over = Bundle.layered(base, {"manifest.json": told(withdraws=["yes"]), "own.cedar": OWN})
    assert over.rule_ids == {"no", "own"}
    assert over.base is base
    assert set(over.files) == {"manifest.json", "own.cedar"}


def test_a_layers_digest_covers_its_base() -> None:
    files = {"manifest.json": told(), "own.cedar": OWN}
    one = Bundle.layered(Bundle.parse(FILES), files)
    two = Bundle.layered(Bundle.parse({**FILES, "b.cedar": NO.replace("100", "101")}), files)
    three = Bundle.layered(Bundle.parse(FILES), {**files, "own.cedar": OWN + "\n"})
    assert len({one.digest, two.digest, three.digest}) == 3
    assert one.digest == Bundle.layered(Bundle.parse(FILES), {**files, "cases.jsonl": "\n"}).digest


@pytest.mark.parametrize(
    ("files", "where", "wrong"),
    [
        ({"manifest.json": told(withdraws=["no"])}, "manifest.json:10", "no is a forbid of the base"),
        ({"manifest.json": told(withdraws=["nil"])}, "manifest.json:10", "the base has no rule nil"),
        ({"manifest.json": told(base="other")}, "manifest.json:8", "base is 'other'"),
        ({"manifest.json": manifest()}, "manifest.json:1", "base is None"),
        ({"manifest.json": told(facts="retail")}, "manifest.json:1", "facts is retail"),
        ({"manifest.json": told(), "schema.cedarschema": SCHEMA}, "schema.cedarschema:1", "no such file"),
        ({"manifest.json": told(), "own.cedar": OWN.replace("own", "no")}, "own.cedar:1", "taken by the base"),
        ({"manifest.json": told(withdraws=["yes"]), "own.cedar": YES}, "own.cedar:3", "taken by the base"),
        ({"manifest.json": told(), "own.cedar": OWN.replace("status", "stats")}, "own.cedar:3", "`stats`"),
        ({"own.cedar": OWN}, "manifest.json:1", "missing"),
    ],
)  # fmt: skip
def test_a_layer_that_is_wrong_is_told_with_its_line(files: dict[str, str], where: str, wrong: str) -> None:
    with pytest.raises(BundleInvalid) as caught:
        Bundle.layered(Bundle.parse(FILES), files)
    assert str(caught.value).startswith(f"{where}: ")
    assert wrong in caught.value.wrong


def test_a_layer_is_no_base() -> None:
    over = Bundle.layered(Bundle.parse(FILES), {"manifest.json": told()})
    with pytest.raises(BundleInvalid, match="is a tenant's layer and no base"):
        Bundle.layered(over, {"manifest.json": told(base="lumen")})


def test_a_layer_tightens_the_base_that_ships() -> None:
    base, lower = Bundle.load(), f'@id("refund-above-20") forbid {REFUND} when {{ context.amount_minor > 2000 }};'
    over = Bundle.layered(base, {"manifest.json": told(base="base"), "own.cedar": lower})
    for amount, kind in ((2000, VerdictKind.ASK), (2001, VerdictKind.FORBID)):
        assert PolicyEngine(over).judge(w.question(w.refund(amount=amount))).kind is kind
        assert PolicyEngine(base).judge(w.question(w.refund(amount=amount))).kind is VerdictKind.ASK


def test_every_bundle_that_ships_loads() -> None:
    for folder in sorted(BASE.parent.iterdir()):
        assert Bundle.load(folder).files == read_folder(folder)
