import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { openConsole, register } from "../console/console-person.ts"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { newestMailLink } from "../sign-in/oauth/application.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

const overflowOf = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

/** The size of the viewport if a user zooms a window of 1280 by 1024 pixels to 400 %. */
const enlarged = { width: 320, height: 256 }

describe.skipIf(executable === undefined)("a page on a small screen", () => {
  it("shows a very long email address and partner name without horizontal scrolling", async () => {
    const email = `${"a".repeat(64)}@${`${"b".repeat(60)}.`.repeat(3)}com`
    await service.call("POST", "/users", { body: { email } })
    await service.call("POST", "/organizations", {
      token: service.admin.token,
      body: { name: "W".repeat(200), partner_path: "long", return_link: `${service.url}/` },
    })
    const page = await (await browser.person()).newPage()
    await page.setViewportSize(enlarged)
    await page.goto(await newestMailLink(service, email))
    await page.getByText(email).waitFor()
    expect(await overflowOf(page)).toBe(0)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "Your address is confirmed" }).waitFor()
    expect(await overflowOf(page)).toBe(0)
    for (const flow of ["", "/link-email", "/manage"]) {
      await page.goto(`${service.url}/partner/long${flow}`)
      expect([flow, await overflowOf(page)]).toEqual([flow, 0])
    }
  })

  it.each(["", "/lookup", "/cart", "/errors", "/live", "/schemas"])(
    "shows the API reference /docs%s without horizontal scrolling of the page, and all content inside landmarks",
    async (path) => {
      const page = await (await browser.person()).newPage()
      await page.setViewportSize(enlarged)
      await page.goto(`${service.url}/docs${path}`)
      await page.locator("details").evaluateAll((all) => {
        for (const one of all) one.setAttribute("open", "")
      })
      expect(await overflowOf(page)).toBe(0)
      expect(await page.locator("body > :not(.skip, header, .docs), .docs > :not(nav, main)").count()).toBe(0)
      // Long lines of code scroll inside their box. The keyboard reaches the box.
      const unreachable = await page.locator("pre").evaluateAll((all) => {
        return all.filter((one) => one.scrollWidth > one.clientWidth && one.tabIndex < 0).length
      })
      expect(unreachable).toBe(0)
    },
  )

  it.each([enlarged, { width: 360, height: 640 }])(
    "never hides the focused element behind the navigation bar: $width by $height pixels",
    async (size) => {
      const page = await openConsole(await browser.person(), service, await register(service), "#/market")
      await page.setViewportSize(size)
      await page.locator(".tile-card").first().waitFor()
      const covered: Array<string> = []
      for (let stroke = 0; stroke < 50; stroke++) {
        await page.keyboard.press("Tab")
        const name = await page.evaluate(() => {
          const focused = document.activeElement
          if (focused === null || focused === document.body || focused.closest("#views")) return ""
          const { bottom, height, top } = focused.getBoundingClientRect()
          const isSeen = [top + 2, top + height / 2, bottom - 2].every((y) => {
            const { left, width } = focused.getBoundingClientRect()
            return !document.elementFromPoint(left + width / 2, y)?.closest("#views")
          })
          return isSeen ? "" : focused.outerHTML
        })
        if (name !== "") covered.push(name)
      }
      expect(covered).toEqual([])
    },
  )
})
