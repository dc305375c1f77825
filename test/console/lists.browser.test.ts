import { describe, expect, it } from "vitest"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { giveMany, someIds } from "../sign-in/oauth/many-ids.ts"
import { openConsole, register } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

type ConsolePage = Awaited<ReturnType<typeof openConsole>>

/** Opens the pages of a list one after the other, up to the last page. */
const goToEnd = async (page: ConsolePage) => {
  const place = page.getByText(/^\d+ of \d+$/)
  await place.waitFor()
  const [, last = ""] = ((await place.textContent()) ?? "").split(" of ")
  for (let n = 2; n <= Number(last); n++) {
    await page.getByRole("button", { name: "Older" }).click()
    await page.getByText(`${n} of ${last}`).waitFor()
  }
}

describe.skipIf(executable === undefined)("a long list in the console", () => {
  it("shows the last of 501 ids of an owner, and this id can be selected for a transfer", async () => {
    const owner = await register(service)
    const last = await giveMany(service, owner.id)
    const page = await openConsole(await browser.person(), service, owner, "#/ids")
    await page.getByRole("link", { name: `Records of ${last}` }).waitFor()
    await page.goto(`${service.url}/#/transfers`)
    await page.getByLabel("Id", { exact: true }).selectOption(last)
  })

  it("shows an old pending transfer together with many newer transfers, and shows the total if the list is cut off", async () => {
    const { token, ...sender } = await register(service)
    await giveMany(service, sender.id)
    const { body: ids } = await service.call("GET", "/emoji_id?limit=500", { token })
    const begin = async (eid: string): Promise<string> =>
      (await service.call("POST", "/transfers", { token, body: { eid, email: "friend@example.com" } })).body
        .id
    const beginMany = (like: string, count: number) => service.sql`
      insert into entity (kind, id, version, turn, status, state, owner_id, peer_id, subject, created_at)
      select e.kind, x.id, e.version, x.id, e.status, jsonb_set(e.state, '{context,id}', to_jsonb(x.id)), e.owner_id,
             e.peer_id, e.subject, now()
        from entity e, lateral (select gen_random_uuid() as id from generate_series(1, ${count}) where e.id = e.id) x
       where e.id = ${like}`
    await begin(ids[0])
    const second = await begin(ids[1])
    await beginMany(second, 49)
    const page = await openConsole(await browser.person(), service, { token, ...sender }, "#/transfers")
    await page.locator(".transfer", { hasText: ids[0] }).waitFor()
    await page.locator("option", { hasText: ids[0] }).waitFor({ state: "detached" })
    await page.getByText(/^Showing the newest/).waitFor({ state: "detached" })
    await beginMany(second, 149)
    await begin(ids[2])
    await page.getByText("Showing the newest 200 of 201.").waitFor()
  })

  it("shows the oldest of 51 orders on the last page", async () => {
    const { token, ...buyer } = await register(service)
    await service.sql`update app_user set free_limit = 1000 where id = ${buyer.id}`
    const ids = someIds(51)
    for (const emoji_id of ids) {
      await service.call("POST", "/cart", { token, body: { items: [{ emoji_id }] } })
      const paid = await service.call("POST", "/cart/checkout", { token, body: { method: "Free" } })
      expect(paid.status).toBe(200)
    }
    const page = await openConsole(await browser.person(), service, { token, ...buyer }, "#/cart")
    await page.locator(".order", { hasText: ids[50]! }).waitFor()
    await goToEnd(page)
    await page.locator(".order", { hasText: ids[0]! }).waitFor()
  })

  it("shows the first and the last of 101 ids on the watchlist", async () => {
    const { token, ...person } = await register(service)
    const ids = someIds(101)
    for (const emoji_id of ids) await service.call("POST", "/user_interests", { token, body: { emoji_id } })
    const page = await openConsole(
      await browser.person(),
      service,
      { token, ...person },
      "#/account/interests",
    )
    const seen = new Set<string>()
    const note = async () => {
      for (const text of await page.locator(".tile-id").allTextContents()) seen.add(text)
    }
    await page.locator(".tile-id").first().waitFor()
    await note()
    await goToEnd(page)
    await note()
    expect([ids[0], ids[100]].every((id) => seen.has(id!))).toBe(true)
  })
})
