import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService } from "../fixtures/service.ts"
import { freshId, newShopper } from "../orders/shopper.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})

interface Sent {
  readonly method: string
  readonly path: string
  readonly token: string
  readonly body?: unknown
}

/**
 * Sends a request, and disconnects while the statement of the request waits for a locked row. Then unlocks the row.
 */
const leaveDuring = async (table: string, { method, path, token, body }: Sent) => {
  const { sql, url } = service
  const leaving = new AbortController()
  await sql.begin(async (q) => {
    await q`select 1 from ${q(table)} for update`
    const left = fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body ?? null),
      signal: leaving.signal,
    })
    await expect
      .poll(
        () =>
          sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      .toHaveLength(1)
    leaving.abort()
    await expect(left).rejects.toThrow()
    await sleep(100)
  })
}

describe("a write whose client disconnects before the response", () => {
  it("still changes the user's email, and a checkout requires the new email to be confirmed", async () => {
    const buyer = await newShopper(service)
    await buyer.add(freshId())
    const email = `${randomUUID()}@example.com`
    await leaveDuring("app_user", { method: "PATCH", path: "/account", token: buyer.token, body: { email } })
    await expect.poll(async () => (await buyer.call("GET", "/account")).body.user?.email).toBe(email)
    expect((await buyer.checkout()).body.fields?.email?.[0].code).toBe("unconfirmed")
  })

  it("still deactivates the user and ends the user's session", async () => {
    const admin = await newShopper(service, { role: "Admin" })
    const user = await newShopper(service)
    expect((await user.cart()).status).toBe(200)
    const body = { active: false }
    await leaveDuring("app_user", { method: "PATCH", path: `/users/${user.id}`, token: admin.token, body })
    await expect.poll(async () => (await user.cart()).status).toBe(401)
  })

  it("still logs the user out", async () => {
    const user = await newShopper(service)
    expect((await user.cart()).status).toBe(200)
    await leaveDuring("app_user", { method: "POST", path: "/logout", token: user.token })
    await expect.poll(async () => (await user.cart()).status).toBe(401)
  })

  it("still sets the prices", async () => {
    const admin = await newShopper(service, { role: "Admin" })
    const read = async () => (await admin.call("GET", "/price_parameters")).body
    const body = JSON.parse(JSON.stringify(await read()), (key, value) =>
      key === "price_in_cents" ? value + 100 : value,
    )
    await leaveDuring("price_parameters", {
      method: "PUT",
      path: "/price_parameters",
      token: admin.token,
      body,
    })
    await expect.poll(read).toMatchObject(body)
  })
})
