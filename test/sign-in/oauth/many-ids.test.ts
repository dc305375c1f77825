import { describe, expect, it } from "vitest"
import { bitcoin, serveDirectory } from "../../directory/directory-service.ts"
import { makePartner, makeWalletUser } from "../../partners/partner.ts"
import { authorizeAddress, locationOf, logInByMail, makeVisitor, registerApplication } from "./application.ts"
import { giveMany } from "./many-ids.ts"

const service = await serveDirectory()
await makePartner(service)
/**
 * Opens a partner flow as a user who owns more ids than a page lists. The parameter `eid` names the user's last id.
 */
const arrive = async (flow: string) => {
  const user = await makeWalletUser(service, `many${flow}`)
  const eid = await giveMany(service, user.id)
  const visitor = makeVisitor(service)
  const path = `/partner/octo${flow}`
  const sent = { refresh_token: user.refresh, eid, addresses: `0x1003=${bitcoin}` }
  await visitor.get(`${path}?${new URLSearchParams(sent)}`)
  return { eid, visitor, page: await visitor.get(path) }
}
const recordsOf = async (id: string) => JSON.stringify((await service.lookup(id)).body.result)

describe("a user who owns more ids than a page lists", () => {
  it("can connect a wallet to the id in the URL parameter `eid`", async () => {
    const { eid, page, visitor } = await arrive("/link-email")
    expect(page.text).toContain(`Connect ${eid}`)
    const done = await visitor.submit(page, { action: "connect", emoji_id: eid })
    expect(locationOf(done).searchParams.get("eid")).toBe(eid)
    expect(await recordsOf(eid)).toContain(bitcoin)
  })

  it("can keep the id that the wallet sent in the URL parameter `eid`", async () => {
    const { eid, page, visitor } = await arrive("")
    const done = await visitor.submit(page, { action: "keep" })
    expect(locationOf(done).searchParams.get("eid")).toBe(eid)
  })

  it("can add the wallet's address to the id in the URL parameter `eid`", async () => {
    const { eid, page, visitor } = await arrive("/manage")
    await visitor.submit(page, { action: "given", emoji_id: eid })
    expect(await recordsOf(eid)).toContain(bitcoin)
  })

  it("can log in to an application with the id in the URL parameter `svc` or in the submitted form", async () => {
    const user = await service.user()
    const svc = await giveMany(service, user.id)
    const app = await registerApplication(service, "https://app.example/back")
    const visitor = makeVisitor(service)
    await logInByMail(service, visitor, authorizeAddress(app), user.email)
    const named = await visitor.get(authorizeAddress(app, { svc }))
    expect(locationOf(named).searchParams.get("code")).not.toBeNull()
    const chosen = await visitor.submit(await visitor.get(authorizeAddress(app)), {
      action: "select",
      emoji_id: svc,
    })
    expect(locationOf(chosen).searchParams.get("code")).not.toBeNull()
  })
})
