import { randomUUID } from "node:crypto"
import { beforeAll, expect, it } from "vitest"
import { serve, type TestService } from "../fixtures/service.ts"
import { freshIds, newShopper } from "../orders/shopper.ts"

let service: TestService
beforeAll(async () => {
  service = await serve({})
})

it("a lootbox for an email address cannot be opened by a user who has not confirmed the address", async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const owner_email = `winner-${randomUUID()}@example.com`
  const squatter = await service.call("POST", "/users", {
    body: { email: owner_email, password: "correct horse battery" },
  })
  const token = squatter.body.access_token
  const box = await admin.call("POST", "/lootboxes", { status: "Owned", yats: freshIds(1), owner_email })
  if (box.status === 200) {
    const opened = await service.call("POST", `/lootboxes/${box.body.id}/open`, { token })
    expect(opened.status).not.toBe(200)
  }
})
