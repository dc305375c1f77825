import { describe, expect, it } from "vitest"
import { EmojiId } from "../../schema/emoji-id.ts"
import { bitcoin, serveDirectory } from "../directory/directory-service.ts"
import { authorizeAddress, locationOf, logInByMail, makeVisitor, registerApplication } from "./application.ts"
import { makePartner, makeWalletUser } from "./partner.ts"

const service = await serveDirectory()
await makePartner(service)
const count = 501
let made = 0

/** Gives the user more ids than a page lists, and names the last of them. */
const giveMany = async (userId: string) => {
  const ids = Array.from({ length: count }, () => {
    const n = made++
    return new EmojiId([9, 8, Math.floor(n / 400), n % 400]).canonical
  })
  await service.sql`with c as (
      insert into claim (canonical, kind, holder, owner_id) select x, 'owned', ${userId}, ${userId} from unnest(${ids}::text[]) x)
    insert into emoji_id (canonical, owner_id, source, registered_at)
    select x, ${userId}, 'test', now() + n * interval '1 ms' from unnest(${ids}::text[]) with ordinality as t(x, n)`
  return ids.at(-1)!
}

/** A wallet sends a user who has very many ids, and names the last of them. */
const arrive = async (flow: string) => {
  const user = await makeWalletUser(service, `many${flow}`)
  const eid = await giveMany(user.id)
  const visitor = makeVisitor(service)
  const path = `/partner/octo${flow}`
  const sent = { refresh_token: user.refresh, eid, addresses: `0x1003=${bitcoin}` }
  await visitor.get(`${path}?${new URLSearchParams(sent)}`)
  return { eid, visitor, page: await visitor.get(path) }
}
const recordsOf = async (id: string) => JSON.stringify((await service.lookup(id)).body.result)

describe("who has more ids than a page lists", () => {
  it("connects the one that is named to a wallet", async () => {
    const { eid, page, visitor } = await arrive("/link-email")
    expect(page.text).toContain(`Connect ${eid}`)
    const done = await visitor.submit(page, { action: "connect", emoji_id: eid })
    expect(locationOf(done).searchParams.get("eid")).toBe(eid)
    expect(await recordsOf(eid)).toContain(bitcoin)
  })

  it("keeps the one a wallet knows", async () => {
    const { eid, page, visitor } = await arrive("")
    const done = await visitor.submit(page, { action: "keep" })
    expect(locationOf(done).searchParams.get("eid")).toBe(eid)
  })

  it("manages the one that is named", async () => {
    const { eid, page, visitor } = await arrive("/manage")
    await visitor.submit(page, { action: "given", emoji_id: eid })
    expect(await recordsOf(eid)).toContain(bitcoin)
  })

  it("signs in with the one that is named", async () => {
    const user = await service.user()
    const svc = await giveMany(user.id)
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
