"""The same harmlessness with a model that nobody has scripted, where one is given.

`INTERLOCK_TEST_MODEL_URL` is its endpoint and `INTERLOCK_TEST_MODEL_NAME` its name; `docs/models.md` says how to serve
a small one on this machine.
"""

import os
from pathlib import Path

import pytest

from tests.whole.hostile import articles, theatre
from tests.whole.hostile_laws import nobody_was_harmed
from tests.whole.models_file import write_models_file
from tests.whole.test_hostile_model import NOT_ASKED, SCENES

URL, NAME = "INTERLOCK_TEST_MODEL_URL", "INTERLOCK_TEST_MODEL_NAME"
CALL_TIMEOUT_S = 20.0  # a small model on a processor that it shares


@pytest.mark.skipif(URL not in os.environ, reason=f"{URL} names no endpoint")
@pytest.mark.timeout(1_200)
def test_no_given_model_does_harm(tmp_path: Path) -> None:
    models_file = write_models_file(
        tmp_path / "models.toml",
        call_timeout_s=CALL_TIMEOUT_S,
        structured="json_object",  # what small servers know
        limit_field="max_tokens",
        model=os.environ.get(NAME, "given"),
    )
    with theatre(tmp_path, os.environ[URL], models_file) as stage:
        for name, lines in SCENES.items():
            (talk,) = stage.play({name: lines})
            nobody_was_harmed(stage.product, talk, articles())
        assert [outcome for _, outcome in stage.booked(stage.talks) if outcome not in NOT_ASKED]
