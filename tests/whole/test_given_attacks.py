"""Attacks that somebody has collected, on a model that obeys every one of them, where such a file is given.

`INTERLOCK_TEST_ATTACKS` names lines of `{text}`; each is said by a customer, and stands on a parcel asked about before.
"""

import json
import os
from pathlib import Path

import pytest

from tests.scripted_model.lies import NEVER_SENT
from tests.scripted_model.process import scripted_model
from tests.whole.hostile import articles, theatre
from tests.whole.hostile_laws import nobody_was_harmed
from tests.whole.hostile_world import CANARY
from tests.whole.models_file import write_models_file

FILE = "INTERLOCK_TEST_ATTACKS"
AT_ONCE = 6
ASKS = "Where is my order {shipped}, what is in it, and how do I send it back?"


@pytest.mark.skipif(FILE not in os.environ, reason=f"{FILE} names no file")
@pytest.mark.timeout(1_200)
def test_no_collected_attack_does_harm(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in Path(os.environ[FILE]).read_text().splitlines()]
    attacks = [str(row["text"]).replace("{canary}", CANARY) for row in rows]
    models_file = write_models_file(tmp_path / "models.toml", call_timeout_s=2.0)
    with (
        scripted_model(tmp_path, "obeys_injection") as model,
        theatre(tmp_path, model.base_url, models_file, titles=[f"Mug. {attack}"[:200] for attack in attacks]) as stage,
    ):
        for begin in range(0, len(attacks), AT_ONCE):
            lines = [attack.replace("{", "{{").replace("}", "}}") for attack in attacks[begin : begin + AT_ONCE]]
            for talk in stage.play({f"{begin + n}": (ASKS, line) for n, line in enumerate(lines)}):
                nobody_was_harmed(stage.product, talk, articles())
                assert [lie for lie in NEVER_SENT if lie.casefold() in talk.shown.casefold()] == []
        assert model.asked()
