import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService } from "../../fixtures/service.ts"
import { atSandbox, crypto, freshId, newShopper, until } from "../shopper.ts"

let service: TestService
let admin: Awaited<ReturnType<typeof newShopper>>
beforeAll(async () => {
  service = await serve()
  admin = await newShopper(service, { role: "Admin" })
})

const checkOut = async (how: unknown) => {
  const buyer = await newShopper(service)
  await buyer.add(freshId())
  return { buyer, order: (await buyer.checkout(how)).body }
}
const mailAgain = async (order: { readonly id: string }) =>
  (await admin.call("POST", `/orders/${order.id}/resend_confirmation`)).status
const countTo = async (address: string) => {
  const { body } = await service.call("GET", `/dev/outbox?to=${encodeURIComponent(address)}`)
  return body.filter(({ kind }: { kind: string }) => kind === "order_receipt").length
}

describe("the receipt", () => {
  it("can be mailed again for a paid order, but not for an order that is pending payment", async () => {
    const { buyer, order } = await checkOut({ method: "Free" })
    expect(order.status).toBe("Paid")
    expect(await mailAgain(order)).toBe(200)
    expect(await countTo(buyer.email)).toBe(2)
    expect(await mailAgain((await checkOut(crypto)).order)).toBe(409)
  })

  it("contains the order number, by which only the buyer and administrators can find the order", async () => {
    const { buyer, order } = await checkOut({ method: "Free" })
    await buyer.add(freshId())
    const { body: mails } = await service.call("GET", `/dev/outbox?to=${encodeURIComponent(buyer.email)}`)
    const receipt = mails.find(({ kind }: { kind: string }) => kind === "order_receipt")
    expect(receipt.subject).toBe(`Receipt for order ${order.order_number}`)
    const find = async (who: typeof admin, query: string) => {
      const { body } = await who.call("GET", `/orders?${query}`)
      return body.data.map(({ id }: { id: string }) => id)
    }
    const byNumber = `order_number=${order.order_number}`
    expect(await find(buyer, byNumber)).toEqual([order.id])
    expect(await find(admin, `all=true&order_number=%20${order.order_number.toUpperCase()}`)).toEqual([
      order.id,
    ])
    expect(await find(admin, byNumber)).toEqual([])
    expect(await find(admin, "all=true&order_number=00000000")).toEqual([])
    expect((await (await newShopper(service)).call("GET", `/orders?all=true&${byNumber}`)).status).toBe(403)
  })

  it("is mailed again to the buyer's current address if this is confirmed, otherwise to the address of the checkout; a deleted account gets no mail", async () => {
    const { buyer, order } = await checkOut({ method: "Free" })
    const moved = `moved-${buyer.email}`
    await service.sql`update app_user set email = ${moved} where id = ${buyer.id}`
    expect(await mailAgain(order)).toBe(200)
    expect([await countTo(buyer.email), await countTo(moved)]).toEqual([1, 1])
    await service.sql`update app_user set email_verified_at = null, email = ${`wrong-${moved}`} where id = ${buyer.id}`
    await mailAgain(order)
    expect([await countTo(buyer.email), await countTo(`wrong-${moved}`)]).toEqual([2, 0])
    expect((await admin.call("DELETE", `/users/${buyer.id}`)).status).toBe(200)
    await mailAgain(order)
    expect(await countTo(buyer.email)).toBe(2)
  })

  it("for an order that is paid after its cancellation is mailed to the current address of the buyer", async () => {
    const { buyer, order } = await checkOut(crypto)
    await buyer.call("DELETE", "/cart")
    const moved = `moved-${buyer.email}`
    await service.sql`update app_user set email = ${moved} where id = ${buyer.id}`
    await atSandbox(service, order.payment_method_data.session_id, "pay")
    const { body } = await until(
      () => buyer.order(order.id),
      (answer) => answer.body.status === "Paid",
    )
    expect(body.status).toBe("Paid")
    expect([await countTo(buyer.email), await countTo(moved)]).toEqual([0, 1])
  })
})
