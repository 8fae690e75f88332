"""The command that judges a file of requests in a shop's world, line by line.

Mounted by `cli`; rooms are imported inside the command.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli_ends import failed

if TYPE_CHECKING:
    from policy.engine import PolicyEngine
    from policy.retail.world import World

COMMAND = "policy judge"


def judge(
    bundle: Annotated[str, typer.Option(help="A bundle's folder, or the name of one that comes with Interlock.")],
    world: Annotated[Path, typer.Option(help="The shop's world: a JSON file with users, orders and products.")],
    requests: Annotated[
        typer.FileBinaryRead,
        typer.Option(help="One a line: {id, principal, action, arguments, approved?, orders?, users?}; - reads stdin."),
    ],
) -> None:
    """Judge requests for a shop's tools: a line {id, verdict, rules} for each, its verdict permit, ask or forbid.

    A line that is no request is forbidden by `not-a-request`, where its id can be read, and told on standard error.
    Exit status: 0 every line was judged, 1 the bundle or the world cannot be read, 2 an option is wrong, 3 some lines
    are no requests or name a principal whom nobody knows; the others are judged all the same.
    """
    from policy.bundle import BundleInvalid
    from policy.retail.judging import judge_line
    from policy.retail.request import SHAPE
    from policy.retail.world import WorldInvalid

    try:
        engine, known = _engine(bundle), _world(world)
    except (BundleInvalid, WorldInvalid) as fault:
        raise failed(COMMAND, fault, 1) from None
    wrong, said = 0, set[str]()
    for number, line in enumerate(requests, start=1):
        if not line.strip():
            continue
        outcome = judge_line(engine, known, line)
        if outcome.judged is not None:
            typer.echo(outcome.judged.model_dump_json())
        if outcome.wrong is not None:
            wrong += 1
            typer.echo(f"{requests.name}:{number}: {outcome.wrong}", err=True)
        for name in set(outcome.unread) - said:
            said.add(name)
            typer.echo(f"{requests.name}:{number}: note: {name!r} is not read; {SHAPE}", err=True)
    if wrong:
        raise failed(COMMAND, ValueError(f"lines that are wrong, as told above: {wrong}"), 3)


def _engine(bundle: str) -> "PolicyEngine":
    """The engine of a bundle that judges requests for a shop's tools. Raises BundleInvalid."""
    from policy.bundle import BUNDLES, Bundle
    from policy.engine import PolicyEngine
    from policy.manifest import MANIFEST, Facts

    named, shipped = Path(bundle), sorted(path.name for path in BUNDLES.iterdir() if path.is_dir())
    if not named.is_dir() and bundle not in shipped:
        what = (
            f"there is no bundle {bundle!r}: give a bundle's folder, or one that comes with Interlock, such as retail"
        )
        raise failed(COMMAND, ValueError(what), 1)
    meant = bundle in shipped and not (named / MANIFEST).exists()  # a folder of that name may hold the shop's data
    loaded = Bundle.load(BUNDLES / bundle if meant else named)
    if loaded.facts is not Facts.RETAIL:
        what = f"bundle {loaded.manifest.id} judges actions on accounts; name one of a shop's tools, such as retail"
        raise failed(COMMAND, ValueError(f"{what}: its manifest has the facts retail"), 1)
    return PolicyEngine(loaded)


def _world(path: Path) -> "World":
    """The world in a file. Raises WorldInvalid."""
    from policy.retail.world import World, WorldInvalid

    try:
        return World.parse(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise WorldInvalid(f"{path} cannot be read: {error}") from None
    except WorldInvalid as error:
        raise WorldInvalid(f"{path}: {error}") from None
