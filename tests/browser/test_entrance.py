"""Laws of the way in: who may sign in, what the browser keeps of it, and what another site can do with it: nothing."""

from playwright.async_api import expect

from tests.browser.house import IN_BROWSER, House

pytestmark = IN_BROWSER


async def test_a_session_is_a_cookie_that_no_script_reads(house: House) -> None:
    page = await house.staff("Ada Lindqvist")
    cookies = await page.context.cookies()
    assert [(c["name"], c["httpOnly"], c["sameSite"], c["secure"]) for c in cookies] == [
        ("interlock_session", True, "Lax", False)
    ]
    assert await page.evaluate("document.cookie") == ""


async def test_whoever_signs_out_is_out_in_every_tab(house: House) -> None:
    page = await house.staff("Bruno Okafor")
    other = await page.context.new_page()
    await other.goto("/console/")
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_role("heading", name="Sign in", exact=True)).to_be_visible()
    await other.reload()
    await expect(other.get_by_role("heading", name="Sign in", exact=True)).to_be_visible()


async def test_the_way_in_leads_to_pages_of_ours_alone(house: House) -> None:
    page = await house.staff("Chiara Rossi", page="//elsewhere.example/console/")
    assert page.url.startswith(house.url)


async def test_no_other_site_frames_the_console(house: House) -> None:
    page = await (await house.window("framed")).new_page()
    answer = await page.goto("/console/sign-in")
    assert answer is not None
    policy = await answer.header_value("content-security-policy") or ""
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
