"""Laws of the layers that the documents show: they load, do what they say, and give up nothing of the base."""

import re
from pathlib import Path

import pytest

from domain.verdict import PolicyQuestion, VerdictKind
from policy.bundle import CASES, Bundle
from policy.engine import PolicyEngine
from policy.examining.cases import failures, load_cases

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = sorted(path.parent for path in DOCS.glob("examples/*/manifest.json"))


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_an_example_loads_over_the_base_does_what_it_says_and_keeps_every_forbid(folder: Path) -> None:
    base = Bundle.load()
    bundle, cases = Bundle.load(folder, base), load_cases(folder)
    assert len(cases) > 1
    assert failures(PolicyEngine(bundle), cases) == ()
    assert {rule.id for rule in base.rules if not rule.permits} <= bundle.rule_ids
    assert failures(PolicyEngine(base), cases) != ()  # it changes something, and its cases show what


def test_the_page_on_changing_a_policy_shows_the_files_as_they_are() -> None:
    page = (DOCS / "changing-a-policy.md").read_text("utf-8")
    shown = re.findall(r"^```\w*\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    for folder in EXAMPLES:
        assert (folder / "refunds.cedar").read_text("utf-8") in shown
        assert str(folder.relative_to(DOCS)) in page
    cases = [text for text in shown if text.startswith('{"case"')]
    assert len(cases) == len(EXAMPLES)
    assert all(any(text in (folder / CASES).read_text("utf-8") for folder in EXAMPLES) for text in cases)
    assert (DOCS / "examples" / "thirty-euros" / "manifest.json").read_text("utf-8") in shown


@pytest.mark.parametrize(("folder", "alone_minor"), [("thirty-euros", 2999), ("eighty-euros", 8000)])
def test_nothing_more_of_one_order_goes_out_on_the_customers_word_when_asked_for_in_parts(
    folder: str, alone_minor: int
) -> None:
    of_it = DOCS / "examples" / folder
    engine = PolicyEngine(Bundle.load(of_it, Bundle.load()))
    asked = next(case.question for case in load_cases(of_it) if case.question is not None)
    for before in (0, 1, alone_minor - 1, alone_minor, alone_minor + 1, 40_000):
        for amount in (1, 2, alone_minor - before, alone_minor - before + 1, alone_minor, alone_minor + 1):
            if amount < 1:
                continue
            verdict = engine.judge(refund_of(asked, amount, before))
            assert (verdict.kind is VerdictKind.PERMIT) is (before + amount <= alone_minor), (before, amount)


def refund_of(question: PolicyQuestion, amount_minor: int, before_minor: int) -> PolicyQuestion:
    """The question of a refund that the customer has confirmed, of an order of which some was given back before."""
    told = question.model_dump(mode="json")
    told["payload"]["amount_minor"], told["granted"] = amount_minor, ["customer"]
    told["account"]["orders"][0]["refunded_minor"] = before_minor
    return PolicyQuestion.model_validate(told)
