import { expect, it } from "vitest"
import { serve } from "../fixtures/service.ts"
import { grant, makeIds } from "./transfer-service.ts"

it("the mail with a transfer code says how long the code is valid", async () => {
  const service = await serve({ TRANSFER_CODE_SECONDS: "90" })
  const [sender, recipient] = await Promise.all([service.user(), service.user()])
  const eid = makeIds(88_000)()
  await grant(service, sender, eid)
  const body = { eid, email: recipient.email }
  expect((await service.call("POST", "/transfers", { token: sender.token, body })).status).toBe(200)
  const sent = await service.call("GET", `/dev/outbox?to=${encodeURIComponent(sender.email)}`)
  expect(sent.body[0].text).toContain("The code is valid for 90 seconds.")
})
