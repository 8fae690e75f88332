"""Laws of the settings: what the environment may say, and how a fault in it is told."""

import pytest

import settings
from settings import Settings, SettingsFault

URL = "postgresql://interlock_app:hush@localhost/interlock"


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in settings.inherited_environment():
        if name.upper().startswith(settings.PREFIX):
            monkeypatch.delenv(name)
    monkeypatch.setenv("INTERLOCK_DATABASE_URL", URL)


def test_a_database_url_is_all_that_must_be_said() -> None:
    assert settings.load().database_url == URL


def test_without_a_database_url_the_fault_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INTERLOCK_DATABASE_URL")
    with pytest.raises(SettingsFault, match=r"^INTERLOCK_DATABASE_URL: Field required$"):
        settings.load()


def test_every_setting_is_described() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_every_number_names_its_unit() -> None:
    numbers = {name for name, field in Settings.model_fields.items() if field.annotation in (int, float)}
    without_unit = {name for name in numbers if not name.endswith(("_max", "_s", "_port", "_size"))}
    assert without_unit == set()


def test_no_secret_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_SHOP_WRITE_KEY", "hush")
    assert "hush" not in repr(settings.load())


def test_a_fault_does_not_repeat_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_DATABASE_URL", "mysql://root:hush@localhost/x")
    with pytest.raises(SettingsFault, match="INTERLOCK_DATABASE_URL") as caught:
        settings.load()
    assert "hush" not in str(caught.value)


def test_all_faults_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_API_PORT", "70000")
    monkeypatch.setenv("INTERLOCK_DISPATCH_TIMEOUT_S", "-1")
    with pytest.raises(SettingsFault) as caught:
        settings.load()
    assert [line.split(":")[0] for line in str(caught.value).splitlines()] == [
        "INTERLOCK_API_PORT",
        "INTERLOCK_DISPATCH_TIMEOUT_S",
    ]


def test_a_url_loses_its_trailing_slash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_SHOP_URL", "http://shop:1/")
    assert settings.load().shop_url == "http://shop:1"


def test_the_owner_is_asked_for_only_where_it_is_needed() -> None:
    quiet = settings.load()
    with pytest.raises(SettingsFault, match="INTERLOCK_DATABASE_OWNER_URL"):
        _ = quiet.owner_url


def test_a_misspelt_variable_is_found() -> None:
    assert settings.unknown_variables({"INTERLOCK_API_PROT": "1", "INTERLOCK_API_PORT": "1", "HOME": "/"}) == [
        "INTERLOCK_API_PROT"
    ]


def test_settings_do_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        settings.load().api_port = 1  # type: ignore[misc]


def test_a_recorded_environment_wins_over_the_present_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_API_PORT", "1")
    read = settings.load({"INTERLOCK_API_PORT": "2", "INTERLOCK_SHOP_READ_KEY": "key", "PATH": "/"})
    assert (read.api_port, read.database_url) == (2, URL)
    assert read.shop_read_key is not None
    assert read.shop_read_key.get_secret_value() == "key"
