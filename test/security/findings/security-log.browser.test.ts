import { describe, expect, it } from "vitest"
import { login } from "../../accounts/person.ts"
import { openConsole, register, registerAdmin } from "../../console/console-person.ts"
import { serveDirectory } from "../../directory/directory-service.ts"
import { executable, openBrowser } from "../../fixtures/browser.ts"
import { freePort } from "../../fixtures/free-port.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

describe.skipIf(executable === undefined)("the console", () => {
  it("shows users the security log of their account", async () => {
    const person = await register(service)
    await login(service, person.email, "not the password")
    await expect
      .poll(
        () => service.sql`select 1 from security_log where event = 'login.failed' and user_id = ${person.id}`,
      )
      .toHaveLength(1)
    const page = await openConsole(await browser.person(), service, person, "#/account/log")
    const rows = page.locator("tbody tr")
    await rows.nth(1).waitFor()
    expect(await rows.count()).toBe(2)
    expect(await rows.nth(0).textContent()).toContain("Sign-in with a wrong password")
    expect(await rows.nth(0).textContent()).toContain("127.0.0.1")
    expect(await rows.nth(1).textContent()).toContain("Signed in")
  })

  it("shows administrators the security log of a user", async () => {
    const [person, admin] = [await register(service), await registerAdmin(service)]
    const page = await openConsole(await browser.person(), service, admin, "#/admin/users")
    await page.getByLabel(`Security log of ${person.email}`).click()
    await page.locator("tbody tr", { hasText: "Signed in" }).waitFor()
    expect(await page.getByText(`Security log of ${person.email}`).isVisible()).toBe(true)
  })
})
