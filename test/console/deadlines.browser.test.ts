import { describe, expect, it } from "vitest"
import { endGrace, totpCode } from "../accounts/person.ts"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { card } from "../orders/shopper.ts"
import { isMarked, mark, openConsole, password, register } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory(
  { PORT: String(port), BASE_URL: `http://127.0.0.1:${port}`, SWEEP_INTERVAL_MS: "100" },
  // This option makes the service notice changes that the test makes directly in the database.
  { peersPossible: true },
)
const browser = await openBrowser()

describe.skipIf(executable === undefined)("the console after a deadline", () => {
  it("shows without a reload that the cart expired, and can restore the cart", async () => {
    const buyer = await register(service)
    const page = await openConsole(
      await browser.person(),
      service,
      buyer,
      `#/market/${encodeURIComponent("🎲🔥🎲")}`,
    )
    await page.getByRole("button", { name: "Add to cart: 🎲🔥🎲", exact: true }).click()
    await page.getByRole("link", { name: /^Cart/ }).click()
    await page.getByRole("button", { name: /by card$/ }).waitFor()
    await mark(page)
    await service.call("POST", "/cart/checkout", { token: buyer.token, body: card })
    await page.getByRole("timer").waitFor()
    await service.sql`
      update entity set version = version + 1, due_at = now(),
             state = jsonb_set(state, '{context,checkout,expiresAt}', to_jsonb(wire_time(now())))
       where kind = 'order' and owner_id = ${buyer.id} and status = 'PendingPayment'`
    await page.getByText("Your cart is empty because the time to pay expired.").waitFor()
    expect(await page.getByRole("timer").count()).toBe(0)
    expect(await isMarked(page)).toBe(true)
    await page.getByRole("button", { name: "Restore cart" }).click()
    await page.getByRole("button", { name: /by card$/ }).waitFor()
  })

  it("asks for a two-factor code before a transfer when the grace period after the two-factor setup has ended", async () => {
    const person = await register(service)
    await service.register("🔥🐙🔥", person)
    const context = await browser.person()
    const page = await context.newPage()
    await page.goto(`${service.url}/#/account/security`)
    await page.getByLabel("Email").fill(person.email)
    await page.getByRole("textbox", { name: "Password" }).fill(password)
    await page.getByRole("tabpanel").getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("button", { name: "Set up an authenticator app" }).click()
    await page.getByRole("img", { name: "QR code with the secret below" }).waitFor()
    const qrWidth = await page.locator("img.qr").evaluate((image: HTMLImageElement) => image.naturalWidth)
    expect(qrWidth).toBeGreaterThan(0)
    const secret = (await page.locator(".secret").textContent()) ?? ""
    const backupCode = (await page.locator(".backup-codes li").first().textContent()) ?? ""
    await page.getByLabel("Code from the app").fill(totpCode(secret))
    await page.getByRole("button", { name: "Turn on" }).click()
    await page.getByText("Two-factor authentication is on: Authenticator app.").waitFor()

    await endGrace(service, person.id)
    await page.getByRole("link", { name: /^Transfers/ }).click()
    await page.getByLabel("Recipient email").fill("somebody@example.com")
    await page.getByRole("button", { name: "Start transfer" }).click()
    const dialog = page.getByRole("dialog", { name: "Confirm your identity" })
    await dialog.getByLabel("Code").fill("000000")
    await dialog.getByRole("button", { name: "Confirm" }).click()
    await dialog.getByRole("alert").filter({ hasText: /./ }).waitFor()
    await dialog.getByLabel("Code").fill(backupCode)
    await dialog.getByRole("button", { name: "Confirm" }).click()
    await page.locator(".transfer", { hasText: "somebody@example.com" }).waitFor()
  })
})
