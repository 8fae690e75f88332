"""Laws of the layers that the documents show: they load, do what they say, and give up nothing of the base."""

import re
from pathlib import Path

import pytest

from policy.bundle import CASES, Bundle
from policy.cases import failures, load_cases
from policy.engine import PolicyEngine

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
    page, [folder] = (DOCS / "changing-a-policy.md").read_text("utf-8"), EXAMPLES
    shown = re.findall(r"^```\w*\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert (folder / "refunds.cedar").read_text("utf-8") in shown
    assert (folder / "manifest.json").read_text("utf-8") in shown
    line = next(text for text in shown if text.startswith('{"case"'))
    assert line in (folder / CASES).read_text("utf-8")
