"""Laws of consent by the staff: exactly what was shown, once; whoever comes second is told who was first."""

import asyncio
from functools import partial

from playwright.async_api import Page, Route, expect

from tests.browser import cases
from tests.browser.house import IN_BROWSER, House

pytestmark = IN_BROWSER


async def test_the_second_of_two_managers_is_told_who_was_first(house: House) -> None:
    (order,) = cases.fresh(house.product, cases.MANAGED_MINOR)
    operation_id = cases.awaiting_staff(house.product, order)
    where = f"/console/approvals/{operation_id}"
    first, second = await asyncio.gather(
        *(house.staff(name, where, order.tenant) for name in ("Chiara Rossi", "Daniel Weber"))
    )
    caught_up = asyncio.Event()

    async def held(route: Route) -> None:
        await caught_up.wait()
        await route.continue_()

    await second.route(f"**{where}", held)  # a page that lags: it has not heard yet that there is nothing to decide
    await decision(first, "Approve")
    await expect(first.locator("#detail").get_by_text("Done", exact=True)).to_be_visible()
    await decision(second, "Approve")
    await expect(second.locator("#detail").get_by_role("alert")).to_contain_text("Chiara Rossi")
    caught_up.set()
    assert len(house.product.effects(operation_id)) == 1


async def test_what_is_alike_and_small_is_decided_together(house: House) -> None:
    batch = [cases.fresh(house.product, cases.MANAGED_MINOR)[0] for _ in range(3)]
    operations = [cases.awaiting_staff(house.product, order, cases.BATCHED) for order in batch]
    page = await house.staff("Chiara Rossi", "/console/approvals", batch[0].tenant)
    for operation_id in operations:
        await page.locator(f"#pick-{operation_id}").check()
    await expect(page.get_by_role("status").filter(has_text="3 selected")).to_be_visible()
    await page.get_by_role("button", name="Decide together").click()
    dialog = page.get_by_role("dialog", name="Decide 3 together")
    await expect(dialog.get_by_role("listitem")).to_have_count(3)
    await dialog.get_by_role("button", name="Approve all 3").click()
    await expect(page.get_by_role("dialog", name="Approved 3 of 3")).to_be_visible()
    for operation_id in operations:
        cases.until(partial(house.product.effects, operation_id))
        assert len(house.product.effects(operation_id)) == 1


async def decision(page: Page, name: str) -> None:
    await page.locator("#detail").get_by_role("button", name=name, exact=True).click()
