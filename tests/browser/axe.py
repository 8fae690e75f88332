"""What axe-core, the accessibility checker, has against a page in both colour schemes.

Its text is handed to the page by the debugger: the content security policy lets no foreign script in.
"""

from functools import cache
from pathlib import Path

from playwright.async_api import Page

AXE = Path(__file__).parent / "vendor" / "axe-4.14.1.min.js"
GRAVE = ("serious", "critical")
ASK = """async (grave) => (await axe.run(document, { resultTypes: ["violations"] })).violations
  .filter(({ impact }) => grave.includes(impact))
  .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ target }) => target.join(" ")).slice(0, 5)}`)"""


@cache
def _text() -> str:
    return AXE.read_text("utf-8")


async def grave_findings(page: Page) -> list[str]:
    """Return every serious or critical finding of the page as it stands, in light and in dark."""
    found = []
    await page.evaluate(f"() => {{ {_text()} }}")
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)
        found += [f"{scheme}: {each}" for each in await page.evaluate(ASK, GRAVE)]
    await page.emulate_media(color_scheme="light")
    return found
