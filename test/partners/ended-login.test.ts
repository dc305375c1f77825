import { expect, it } from "vitest"
import { bitcoin, serveDirectory } from "../directory/directory-service.ts"
import { freshId } from "../orders/shopper.ts"
import { locationOf, logInByMail, makeVisitor } from "../sign-in/oauth/application.ts"
import { makePartner, makeWalletUser } from "./partner.ts"

const service = await serveDirectory()
await makePartner(service)
const path = "/partner/octo"

it("a form of the partner's user buys nothing for another login of the browser after the user's session ended", async () => {
  // The browser is logged in as another user, whose cart has an id.
  const other = await service.user()
  const visitor = makeVisitor(service)
  await logInByMail(service, visitor, path, other.email)
  const othersId = freshId()
  const body = { items: [{ emoji_id: othersId }] }
  expect((await service.call("POST", "/cart", { token: other.token, body })).status).toBe(200)

  // The partner's user fills a cart of their own, and then the session ends.
  const user = await makeWalletUser(service, "ended-1")
  await visitor.get(`${path}?refresh_token=${user.refresh}&addresses=0x1003=${bitcoin}`)
  const id = freshId()
  await visitor.submit(await visitor.get(path), { action: "choose", emoji_id: id })
  const cart = await visitor.get(`${path}?cart`)
  expect([cart.text.includes(id), cart.text.includes(othersId)]).toEqual([true, false])
  await service.call("POST", "/logout", { token: user.token })

  const answer = await visitor.submit(cart, { action: "free" })
  expect((await service.lookup(othersId)).status).toBe(404)
  expect([answer.status, locationOf(answer).pathname]).toEqual([303, path])

  // The next page is that of the other login, and says so by its cart. Its forms work.
  const page = await visitor.get(`${path}?cart`)
  expect([page.text.includes(id), page.text.includes(othersId), page.text.includes(bitcoin)]).toEqual([
    false,
    true,
    true,
  ])
  expect(locationOf(await visitor.submit(page, { action: "free" })).searchParams.get("eid")).toBe(othersId)
})
