import { describe, expect, it } from "vitest"
import { turnOnTotp } from "../accounts/person.ts"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { openConsole, register, registerAdmin } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

describe.skipIf(executable === undefined)("the list of users for administrators", () => {
  it("saves a role when the button is pressed, and not while the arrow keys select roles", async () => {
    const admin = await registerAdmin(service)
    const user = await register(service)
    const roleOf = async () =>
      (await service.sql`select role from app_user where id = ${user.id}`)[0]?.["role"]
    const page = await openConsole(await browser.person(), service, admin, "#/admin/users")
    const role = page.getByLabel(`Role of ${user.email}`)
    const given: Array<unknown> = []
    page.on("request", (sent) => sent.method() === "PATCH" && given.push(sent.postDataJSON()))
    await role.focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    expect([await role.inputValue(), await roleOf()]).toEqual(["Admin", "User"])
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.getByText(`${user.email} now has the role Admin.`).waitFor()
    expect(given).toEqual([{ role: "Admin" }])
    expect(await roleOf()).toBe("Admin")
  })

  it("shows the name of a role as separate words", async () => {
    const person = await register(service)
    const body = { role: "OrgOwner" }
    await service.call("PATCH", `/users/${person.id}`, { token: service.admin.token, body })
    const page = await openConsole(
      await browser.person(),
      service,
      await registerAdmin(service),
      "#/admin/users",
    )
    const options = page.getByLabel(`Role of ${person.email}`).locator("option")
    await options.first().waitFor({ state: "attached" })
    expect(await options.allTextContents()).toEqual(["Org owner", "User", "Bot", "Admin", "Super"])
  })

  it("asks for confirmation before it deactivates a user, and sends nothing if the dialog is cancelled", async () => {
    const [admin, user] = [await registerAdmin(service), await register(service)]
    const page = await openConsole(await browser.person(), service, admin, "#/admin/users")
    const sent: Array<string> = []
    page.on("request", (request) => request.method() !== "GET" && sent.push(request.method()))
    const button = page.getByRole("row", { name: user.email }).getByRole("button", { name: "Deactivate" })
    const dialog = page.getByRole("dialog", { name: `Deactivate ${user.email}?` })

    await button.focus()
    await page.keyboard.press("Enter")
    await dialog.waitFor()
    await page.keyboard.press("Enter")
    await dialog.waitFor({ state: "detached" })
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.press("Enter")
    await dialog.waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    expect(sent).toEqual([])

    await page.keyboard.press("Enter")
    await dialog.getByRole("button", { name: "Deactivate" }).click()
    await page.getByRole("row", { name: user.email }).getByRole("button", { name: "Activate" }).waitFor()
    expect(sent).toEqual(["PATCH"])
  })

  it("finds users by email address or emoji id, and can turn off a user's two-factor authentication", async () => {
    const [admin, user] = [await registerAdmin(service), await register(service)]
    await turnOnTotp(service, user.token)
    await service.register("🐢🚪🐢", user)
    const page = await openConsole(await browser.person(), service, admin, "#/admin/users")
    const find = page.getByLabel("Find a user")
    const row = page.getByRole("row", { name: user.email })
    await page.getByRole("row", { name: admin.email }).waitFor()
    for (const search of [user.email.toUpperCase(), "🐢🚪🐢"]) {
      await find.fill("no such user")
      await page.keyboard.press("Enter")
      await page.getByText("No users found.").waitFor()
      await find.fill(search)
      await page.keyboard.press("Enter")
      await row.waitFor()
      expect(await page.getByRole("row", { name: admin.email }).count()).toBe(0)
    }

    await row.getByRole("button", { name: "Turn off" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Turn off" }).click()
    await page.getByText(`Two-factor authentication is off for ${user.email}.`).waitFor()
    await row.getByText("off", { exact: true }).waitFor()
    const { body } = await service.call("GET", `/users/${user.id}`, { token: admin.token })
    expect(body.two_factor_auth ?? []).toEqual([])

    await find.fill("")
    await page.keyboard.press("Enter")
    await page.getByRole("row", { name: admin.email }).waitFor()
  })

  it("links to the orders of a user, and an order can be found by its number", async () => {
    const [admin, one, other] = [
      await registerAdmin(service),
      await register(service),
      await register(service),
    ]
    const numbers: Array<string> = []
    for (const [buyer, emoji_id] of [
      [one, "🚪🐢🚪"],
      [other, "🚪🌵🚪"],
    ] as const) {
      const { body } = await service.call("POST", "/cart", {
        token: buyer.token,
        body: { items: [{ emoji_id }] },
      })
      numbers.push(body.order_number)
    }
    const [ofOne = "", ofOther = ""] = numbers
    const page = await openConsole(await browser.person(), service, admin, "#/admin/users")
    await page.getByRole("link", { name: `Orders of ${one.email}` }).click()
    await page.getByText(ofOne).waitFor()
    expect(await page.getByText(ofOther).count()).toBe(0)
    await page.getByRole("link", { name: "Show all orders" }).click()
    await page.getByText(ofOther).waitFor()
    await page.getByLabel("Order number").fill(ofOne)
    await page.keyboard.press("Enter")
    await page.getByText(ofOther).waitFor({ state: "detached" })
    await page.getByText(ofOne).waitFor()
  })
})
