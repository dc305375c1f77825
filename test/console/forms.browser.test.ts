import { describe, expect, it } from "vitest"
import { bitcoin, otherBitcoin, serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { openConsole, register } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

const begin = (token: string, eid: string, email: string) =>
  service.call("POST", "/transfers", { token, body: { eid, email } })

describe.skipIf(executable === undefined)("a form in the console", () => {
  it("keeps the text typed in the profile when the account changes elsewhere", async () => {
    const person = await register(service)
    const page = await openConsole(await browser.person(), service, person, "#/account/profile")
    const freeLeft = page.locator("dt", { hasText: "Free ids left" }).locator("+ dd")
    await freeLeft.getByText("1").waitFor()
    await page.getByLabel("First name").fill("Ada")
    await page.getByLabel("New password").fill("another horse")
    await page.getByRole("heading", { name: "Profile" }).click()
    const { token } = person
    await service.call("POST", "/cart", { token, body: { items: [{ emoji_id: "🐢🎨🐢" }] } })
    await service.call("POST", "/cart/checkout", { token, body: { method: "Free" } })
    await freeLeft.getByText("0").waitFor()
    expect(await page.getByLabel("First name").inputValue()).toBe("Ada")
    expect(await page.getByLabel("New password").inputValue()).toBe("another horse")
  })

  it("replaces one address of a coin and keeps the other addresses of the coin", async () => {
    const [person, id] = [await register(service), "🐢🎺"]
    await service.register(id, person)
    const insert = [bitcoin, otherBitcoin].map((data) => ({ tag: "0x1003", data }))
    const { token } = person
    await service.call("PATCH", `/emoji_id/${id}`, {
      token,
      body: { insert, bypass_single_restrictions: true },
    })
    const path = `#/ids/${encodeURIComponent(id)}`
    const page = await openConsole(await browser.person(), service, person, path)
    await page.getByRole("button", { name: "Change BTC" }).first().click()
    const form = page.getByRole("form", { name: "Change BTC" })
    await form.getByLabel("Address").fill(bitcoin)
    await form.getByLabel("Description").fill("savings")
    await form.getByRole("button", { name: "Save" }).click()
    await page.getByText("savings").waitFor()
    const { body } = await service.lookup(id)
    expect(body.result.map(({ data }: { data: string }) => data)).toEqual([
      otherBitcoin,
      `${bitcoin}|savings`,
    ])
  })

  it("finds a kind of record by its name, warns about a doubtful address, keeps both addresses and changes the default", async () => {
    const [person, id] = [await register(service), "🐢🎺🎺"]
    await service.register(id, person)
    await service.edit(id, person, { insert: [{ tag: "0x1003", data: bitcoin }] })
    const path = `#/ids/${encodeURIComponent(id)}`
    const page = await openConsole(await browser.person(), service, person, path)
    const kinds = page.getByLabel("What do you want to add?")
    await kinds.fill("bitcoin mainnet")
    await page.getByRole("button", { name: "BTC Network: Bitcoin." }).click()
    const form = page.getByRole("form", { name: "New record" })
    await form.getByLabel("Address").fill(otherBitcoin)
    await form.getByLabel("Keep both").check()
    await form.getByRole("button", { name: "Add" }).click()
    const rows = page.locator(".records > li")
    await rows.nth(1).locator(".badge").waitFor()
    await rows
      .nth(0)
      .getByRole("button", { name: /^Make default: BTC/ })
      .click()
    const isDefault = page.locator(".records > li:has(.badge)")
    await expect.poll(() => isDefault.locator("code").allInnerTexts()).toEqual([bitcoin])
    expect((await service.call("GET", `/emoji_id/${id}/payment`)).body.result["0x1003"].address).toBe(bitcoin)

    await kinds.fill("litecoin")
    await kinds.press("Enter")
    await form.getByLabel("Address").fill("not-of-litecoin")
    await form.getByRole("button", { name: "Add" }).click()
    await form.getByText("This does not look like an address of Litecoin.").waitFor()
    await form.getByRole("button", { name: "Add" }).click()
    await page.locator(".records code", { hasText: "not-of-litecoin" }).waitFor()
  })

  it("keeps the typed text if the record is changed elsewhere, and saves the text as a new record", async () => {
    const [person, id] = [await register(service), "🐢🎲🎺"]
    await service.register(id, person)
    await service.edit(id, person, { insert: [{ tag: "0x5001", data: "before" }] })
    const path = `#/ids/${encodeURIComponent(id)}`
    const page = await openConsole(await browser.person(), service, person, path)
    await page.getByRole("button", { name: "Change Text" }).click()
    const form = page.getByRole("form", { name: "Change Text" })
    await form.getByLabel("Text").fill("mine")
    const { body } = await service.lookup(id)
    await service.edit(id, person, {
      delete: [body.result[0].hash],
      insert: [{ tag: "0x5001", data: "theirs" }],
    })
    await page.getByText("theirs").waitFor()
    await form.getByText("changed or removed elsewhere").waitFor()
    expect(await form.getByLabel("Text").inputValue()).toBe("mine")
    await form.getByRole("button", { name: "Save" }).click()
    await page.locator(".records code", { hasText: "mine" }).waitFor()
    await form.waitFor({ state: "detached" })
    expect(await page.locator(".records code").allInnerTexts()).toEqual(["theirs", "mine"])
  })

  it("keeps the fields of a new transfer when other transfers arrive, and never selects another id by itself", async () => {
    const [person, other] = [await register(service), await register(service)]
    await service.register("🐢🎤", person)
    await service.register("🐢🎧", person)
    await service.register("🐢🎼", other)
    const page = await openConsole(await browser.person(), service, person, "#/transfers")
    const form = page.getByRole("form", { name: "New transfer" })
    await form.getByLabel("Id").selectOption("🐢🎧")
    await form.getByLabel("Recipient email").fill("friend@example.com")
    await form.getByLabel("Message").fill("for you")
    await page.getByRole("heading", { name: "Transfers" }).click()
    const readIds = () => page.waitForResponse(/\/emoji_id\?/)
    const read = readIds()
    await begin(other.token, "🐢🎼", person.email)
    await (await read).finished()
    await page.getByText(other.email).waitFor()
    expect(await form.getByLabel("Id").inputValue()).toBe("🐢🎧")
    expect(await form.getByLabel("Recipient email").inputValue()).toBe("friend@example.com")
    expect(await form.getByLabel("Message").inputValue()).toBe("for you")

    // The selected id is transferred elsewhere. The form must not select another id instead.
    await begin(person.token, "🐢🎧", other.email)
    await form.locator("option", { hasText: "🐢🎧" }).waitFor({ state: "detached" })
    await form.getByRole("button", { name: "Start transfer" }).click()
    expect(await form.getByLabel("Recipient email").inputValue()).toBe("friend@example.com")
    expect(await form.getByLabel("Id").inputValue()).toBe("")
    const { body } = await service.call("GET", "/transfers", { token: person.token })
    expect(body.data.map(({ eid }: { eid: string }) => eid)).toEqual(["🐢🎧"])
  })

  it("keeps a partly typed code when another transfer starts", async () => {
    const person = await register(service)
    await service.register("🐢🥁", person)
    await service.register("🐢🎷", person)
    await begin(person.token, "🐢🥁", "friend@example.com")
    const page = await openConsole(await browser.person(), service, person, "#/transfers")
    const code = page.locator(".transfer", { hasText: "🐢🥁" }).getByLabel("Code from your email")
    await code.focus()
    await page.keyboard.type("123")
    await begin(person.token, "🐢🎷", "friend@example.com")
    await page.locator(".transfer", { hasText: "🐢🎷" }).waitFor()
    await page.keyboard.type("456")
    expect(await code.inputValue()).toBe("123456")
  })

  it("shows an Ethereum address with its prefix 0x when the address is edited or removed", async () => {
    const owner = await register(service)
    await service.register("🐢🎻", owner)
    const written = "0x52908400098527886e0f7030069857d2e4169ee7"
    await service.edit("🐢🎻", owner, { insert: [{ tag: "0x1004", data: written }] })
    const hash = `#/ids/${encodeURIComponent("🐢🎻")}`
    const page = await openConsole(await browser.person(), service, owner, hash)
    await page.getByRole("button", { name: "Remove" }).click()
    const dialog = page.getByRole("dialog")
    expect(await dialog.textContent()).toContain(` return ${written}.`)
    await dialog.getByRole("button", { name: "Go back" }).click()
    await page.getByRole("button", { name: "Change" }).click()
    const records = page.getByRole("region", { name: "Records" })
    expect(await records.getByLabel("Address").inputValue()).toBe(written)
    await records.getByLabel("Description").fill("savings")
    await page.getByRole("button", { name: "Save" }).click()
    await records.getByText("savings").waitFor()
    expect(await records.locator("code").textContent()).toBe(written)
  })
})
