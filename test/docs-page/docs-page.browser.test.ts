import { describe, expect, it } from "vitest"
import { password, register } from "../accounts/person.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { serve } from "../fixtures/service.ts"

const isMissing = executable === undefined

describe.skipIf(isMissing)("the API reference in a browser", async () => {
  const service = isMissing ? (undefined as never) : await serve()
  const open = async (path: string, width = 1280) => {
    const { person } = await openBrowser()
    const page = await (await person()).newPage()
    await page.setViewportSize({ width, height: 900 })
    const faults: Array<string> = []
    page.on("pageerror", (error) => faults.push(error.message))
    page.on("console", (message) => {
      if (/Content Security Policy/.test(message.text())) faults.push(message.text())
    })
    await page.goto(`${service.url}${path}`)
    return { page, faults }
  }

  it("finds an operation by the keyboard: slash, words, arrow keys and Enter", async () => {
    const { faults, page } = await open("/docs")
    await page.keyboard.press("/")
    await page.keyboard.type("resend code")
    await page.getByRole("option", { name: /Mail a new code/ }).waitFor()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Enter")
    await page.waitForURL("**/docs/transfers#resendCode")
    expect(faults).toEqual([])
  })

  it("sends an operation with the login of the page, and shows status, headers, body and the curl line", async () => {
    const { email } = await register(service)
    const { faults, page } = await open("/docs/users")
    await page.locator("#login summary").click()
    await page.locator("#login").getByLabel("Email").fill(email)
    await page.locator("#login").getByLabel("Password").fill(password)
    await page.locator("#login form button").first().click()
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    const section = page.locator("#getAccount")
    await section.getByText("Try it").click()
    await section.getByRole("button", { name: "Send GET" }).click()
    await section.getByText(/^Status 200/).waitFor()
    expect(await section.getByLabel("Response").textContent()).toContain(`"email": "${email}"`)
    expect(await section.getByLabel("Response").textContent()).toContain("x-request-id: ")
    expect(await section.locator(".command").textContent()).toContain("/account")
    expect(faults).toEqual([])
  })

  it("shows the frames of a channel", async () => {
    const { faults, page } = await open("/docs/live")
    await page.getByText("Try it: watch a channel").click()
    await page.getByRole("button", { name: "Connect" }).click()
    await page.getByRole("log").getByText('"type":"subscribed"').waitFor()
    expect(faults).toEqual([])
  })

  it.each(["/docs", "/docs/lookup", "/docs/errors", "/docs/live", "/docs/cart"])(
    "fits %s into a window of 390 px, where the sidebar is a menu",
    async (path) => {
      const { page } = await open(path, 390)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
      expect(await page.getByRole("navigation").isVisible()).toBe(false)
      await page.getByRole("link", { name: "Menu", exact: true }).click()
      await page.getByRole("link", { name: "Transfers", exact: true }).click()
      await page.waitForURL("**/docs/transfers")
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Transfers")
    },
  )
})
