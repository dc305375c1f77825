import { describe, expect, it } from "vitest"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { openConsole, register } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

describe.skipIf(executable === undefined)("the console in the browser's forced-colours mode", () => {
  it("marks the current page and the completed steps of a transfer with lines", async () => {
    const [sender, receiver] = [await register(service), await register(service)]
    await service.register("🐢🎳", sender)
    await service.call("POST", "/transfers", {
      token: sender.token,
      body: { eid: "🐢🎳", email: receiver.email },
    })
    const page = await openConsole(await browser.person(), service, sender, "#/account/profile")
    await page.emulateMedia({ forcedColors: "active" })
    // One step in the page, because the navigation can be drawn again at any time.
    const look = (selector: string, property: string) =>
      page.evaluate(
        ([found, name]) => [
          ...new Set(
            [...document.querySelectorAll(found)].map((one) => getComputedStyle(one).getPropertyValue(name)),
          ),
        ],
        [selector, property] as const,
      )
    expect(await look(".side-nav [aria-current]", "text-decoration-line")).toEqual(["underline"])
    expect(await look(".side-nav a:not([aria-current])", "text-decoration-line")).toEqual(["none"])
    expect(await look(".bar [aria-current]", "text-decoration-line")).toEqual(["underline"])
    expect(await look(".bar nav a:not([aria-current])", "text-decoration-line")).toEqual(["none"])
    await page.getByRole("link", { name: "Transfers" }).click()
    await page.locator(".steps").waitFor()
    expect(await look(".steps .done", "border-top-style")).toEqual(["solid"])
    expect(await look(".steps :not(.done)", "border-top-style")).toEqual(["dotted"])
  })
})
