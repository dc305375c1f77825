import { decodeQR } from "qr/decode.js"
import { describe, expect, it } from "vitest"
import { bitcoin, otherBitcoin, serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { atSandbox, card } from "../orders/shopper.ts"
import { isMarked, mark, openConsole, register } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory({
  PORT: String(port),
  BASE_URL: `http://127.0.0.1:${port}`,
})
const browser = await openBrowser()

describe.skipIf(executable === undefined)("the console", () => {
  it("looks up an id without JavaScript", async () => {
    const owner = await register(service)
    await service.register("🐢🌊", owner)
    await service.edit("🐢🌊", owner, { insert: [{ tag: "0x5001", data: "slow and steady" }] })
    const context = await (await browser.person()).browser()!.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(service.url)
    await page.getByLabel("Emoji id").fill("🐢🌊")
    await page.getByRole("button", { name: "Look up" }).click()
    await page.getByText("slow and steady").waitFor()
    await context.close()
  })

  it("shows a record that another client adds, without a reload", async () => {
    const owner = await register(service)
    await service.register("🐙🌊", owner)
    const page = await openConsole(await browser.person(), service, undefined, "")
    await page.getByLabel("Emoji id").fill("octopus ocean")
    await page.getByRole("button", { name: "Look up" }).click()
    await page.getByText("This id has no records yet.").waitFor()
    await mark(page)

    const insert = [{ tag: "0x4001", data: "https://example.com/octopus" }]
    const edited = await service.call("PATCH", `/emoji_id/${encodeURIComponent("🐙🌊")}`, {
      token: owner.token,
      body: { insert },
    })
    expect(edited.status).toBe(200)
    await page.getByText("https://example.com/octopus").waitFor()
    await page.getByText("The records were just updated.").waitFor()
    expect(await isMarked(page)).toBe(true)
  })

  it("replaces an address in one request, and sends no request if the user changed nothing", async () => {
    const owner = await register(service)
    await service.register("🐙🎲", owner)
    const [before, after] = ["1a".repeat(20), "2b".repeat(20)]
    await service.edit("🐙🎲", owner, { insert: [{ tag: "0x1004", data: `0x${before}` }] })
    const person = await browser.person()
    const patches: Array<unknown> = []
    person.on("request", (request) => {
      if (request.method() === "PATCH") patches.push(request.postDataJSON())
    })
    const page = await openConsole(person, service, owner, "#/ids/🐙🎲")
    await page.getByRole("button", { name: "Change ETH" }).click()
    const form = page.getByRole("form", { name: "Change ETH" })
    await form.getByLabel("Address").fill("no address")
    await form.getByRole("button", { name: "Save" }).click()
    await form.getByText("This is not a valid ETH address.").waitFor()
    await form.getByLabel("Address").fill(`0x${after}`)
    await form.getByLabel("Description").fill("savings")
    await form.getByRole("button", { name: "Save" }).click()
    await page.locator(".records").getByText(`0x${after}`).waitFor()
    await page.locator(".records").getByText("savings").waitFor()
    expect(await page.locator(".records li").count()).toBe(1)
    // The form checks the address with the rules of the service, so the wrong one is not sent.
    expect(patches).toHaveLength(1)
    expect(patches[0]).toMatchObject({ delete: [expect.any(String)], insert: [{ tag: "0x1004" }] })

    await page.getByRole("button", { name: "Change ETH" }).click()
    await page.getByRole("form", { name: "Change ETH" }).getByRole("button", { name: "Save" }).click()
    await page.getByRole("button", { name: "Remove ETH" }).waitFor()
    expect(patches).toHaveLength(1)
  })

  it("repeats the lookup after a change of the records if the first attempt fails", async () => {
    const owner = await register(service)
    await service.register("🐢🎲", owner)
    const person = await browser.person()
    let refused = 0
    await person.routeWebSocket(/\/live$/, (socket) => {
      const server = socket.connectToServer()
      socket.onMessage((text) => {
        const frame = JSON.parse(String(text))
        if (frame.type !== "lookup" || refused > 0) return server.send(text)
        refused++
        socket.send(JSON.stringify({ type: "error", code: "unavailable", error: "Try again.", id: frame.id }))
      })
    })
    const page = await openConsole(person, service, undefined, "")
    await page.getByLabel("Emoji id").fill("🐢🎲")
    await page.getByRole("button", { name: "Look up" }).click()
    await page.getByText("This id has no records yet.").waitFor()
    await service.edit("🐢🎲", owner, { insert: [{ tag: "0x5001", data: "a lucky turtle" }] })
    await page.getByText("a lucky turtle").waitFor()
    expect(refused).toBe(1)
  })

  it("shows addresses as out of date while the connection is lost, and asks before it copies one", async () => {
    const owner = await register(service)
    await service.register("🐢🎯", owner)
    await service.edit("🐢🎯", owner, { insert: [{ tag: "0x1003", data: bitcoin }] })
    const person = await browser.person()
    await person.grantPermissions(["clipboard-read", "clipboard-write"])
    let isCut = false
    const sockets: Array<{ close(): unknown }> = []
    await person.routeWebSocket(/\/live$/, (socket) => {
      if (isCut) return void socket.close()
      sockets.push(socket)
      return void socket.connectToServer()
    })
    const page = await openConsole(person, service, undefined, `#/lookup/${encodeURIComponent("🐢🎯")}`)
    const copied = () => page.evaluate(() => navigator.clipboard.readText())
    await page.getByText("Network: bitcoin").waitFor()
    await page.getByRole("button", { name: "Copy BTC address" }).click()
    await expect.poll(copied).toBe(bitcoin)

    isCut = true
    for (const socket of sockets) socket.close()
    await page.locator(".stale").getByText("These records may be out of date.").waitFor()
    await page.evaluate(() => navigator.clipboard.writeText(""))
    await page.getByRole("button", { name: "Copy BTC address" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Go back" }).click()
    expect(await copied()).toBe("")
    await service.edit("🐢🎯", owner, { insert: [{ tag: "0x1003", data: otherBitcoin }] })
    // On a busy machine the console may reconnect by itself before the click. Then the button is gone, so it is found
    // before.
    const tryNow = await page.getByRole("button", { name: "Try now" }).elementHandle()
    isCut = false
    await tryNow!.evaluate((button) => (button as HTMLElement).click())
    await page.locator(".lookup:not(.stale)").getByText(otherBitcoin).waitFor()
    await page.getByRole("button", { name: "Try now" }).waitFor({ state: "detached" })
    expect(await page.getByText(bitcoin).count()).toBe(0)
  })

  it("shows a QR code that a scanner reads as the address", async () => {
    const owner = await register(service)
    await service.register("🐢🏹", owner)
    await service.edit("🐢🏹", owner, { insert: [{ tag: "0x1003", data: bitcoin }] })
    const person = await browser.person()
    const page = await openConsole(person, service, undefined, `#/lookup/${encodeURIComponent("🐢🏹")}`)
    await page.getByRole("button", { name: "QR code of the BTC address" }).click()
    const size = 200
    // One character per pixel, because a long list of numbers takes long to leave the browser.
    const drawn = await page.locator("dialog svg").evaluate(async (svg, size) => {
      const image = new Image(size, size)
      image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`
      await image.decode()
      const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size })
      const context = canvas.getContext("2d")!
      context.fillStyle = "#fff"
      context.fillRect(0, 0, size, size)
      context.drawImage(image, 0, 0, size, size)
      const { data } = context.getImageData(0, 0, size, size)
      return Array.from({ length: size * size }, (_, i) => (data[4 * i]! > 127 ? "1" : "0")).join("")
    }, size)
    const data = Uint8Array.from(
      [...drawn].flatMap((bit) => [255 * Number(bit), 255 * Number(bit), 255 * Number(bit), 255]),
    )
    expect(decodeQR({ width: size, height: size, data })).toBe(bitcoin)
  })

  it("offers an id that is not registered for sale, and shows the price to signed-in users", async () => {
    const hash = `#/lookup/${encodeURIComponent("🐢🏺🐢")}`
    const visitor = await openConsole(await browser.person(), service, undefined, hash)
    await visitor.getByRole("link", { name: "Sign in to see the price" }).waitFor()
    const page = await openConsole(await browser.person(), service, await register(service), hash)
    await page.getByText(/^\$\d/).waitFor()
    await page.getByRole("button", { name: "Add to cart" }).click()
    await page.getByRole("link", { name: "Go to cart" }).waitFor()
  })

  it("shows without a reload that a payment on another device was received", async () => {
    const buyer = await register(service)
    const context = await browser.person()
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🐢🔥🐢" }] } })
    const page = await openConsole(context, service, buyer, "#/cart")
    await mark(page)
    const { body: order } = await service.call("POST", "/cart/checkout", { token: buyer.token, body: card })
    await page.getByRole("link", { name: /^Pay .* by card$/ }).waitFor()
    await atSandbox(service, order.payment_method_data.session_id, "pay")
    await page.getByText("Payment received. Your purchase is complete.").waitFor()
    await page.getByRole("heading", { name: "Thank you. Your order is complete." }).waitFor()
    await page.getByRole("link", { name: "Cart" }).click()
    await page.getByText("Your cart is empty.").waitFor()
    await page.locator(".order", { hasText: "Paid" }).waitFor()
    expect(await isMarked(page)).toBe(true)
    expect((await service.call("GET", "/emoji_id", { token: buyer.token })).body).toEqual(["🐢🔥🐢"])
  })

  it("transfers an id between two users whose pages are open, without a reload", async () => {
    const [sender, receiver] = [await register(service), await register(service)]
    await service.register("🌈🐙🌈", sender)
    const senders = await openConsole(await browser.person(), service, sender, "#/transfers")
    const receivers = await openConsole(await browser.person(), service, receiver, "#/transfers")
    await mark(senders)
    await mark(receivers)

    await senders.getByLabel("Recipient email").fill(receiver.email)
    await senders.getByRole("button", { name: "Start transfer" }).click()
    const outgoing = senders.locator(".transfer", { hasText: receiver.email })
    await outgoing.getByText("Waiting for you").waitFor()
    await outgoing.getByRole("button", { name: "Fill in the code from the test mailbox" }).click()
    await expect.poll(() => outgoing.getByLabel("Code from your email").inputValue()).toMatch(/^\d{6}$/)
    await outgoing.getByRole("button", { name: "Confirm" }).click()
    await outgoing.getByText("Awaiting receiver").waitFor()

    const incoming = receivers.locator(".transfer", { hasText: sender.email })
    await incoming.getByRole("button", { name: "Fill in the code from the test mailbox" }).click()
    await expect.poll(() => incoming.getByLabel("Code from your email").inputValue()).toMatch(/^\d{6}$/)
    await incoming.getByRole("button", { name: "Accept" }).click()

    await outgoing.getByText("Accepted", { exact: true }).waitFor()
    await senders.getByText("You have no ids that can be transferred.").waitFor()
    await receivers.getByRole("heading", { name: "🌈🐙🌈 is now yours." }).waitFor()
    await receivers.getByRole("link", { name: "All transfers" }).click()
    await receivers.locator(".ended", { hasText: sender.email }).waitFor()
    await receivers.locator("option", { hasText: "🌈🐙🌈" }).waitFor({ state: "attached" })
    expect(await isMarked(senders)).toBe(true)
    expect(await isMarked(receivers)).toBe(true)
  })

  it("signs in with the browser session that an emailed link created", async () => {
    const person = await service.user()
    const page = await openConsole(await browser.person(), service, undefined, "#/sign-in")
    await page.getByRole("tab", { name: "Email link" }).click()
    await page.getByLabel("Email").fill(person.email)
    await page.getByRole("button", { name: "Send me a link" }).click()
    await page.getByRole("heading", { name: "Check your email" }).waitFor()
    const { body: mails } = await service.call("GET", `/dev/outbox?to=${person.email}`)
    await page.goto(mails[0].link)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("button", { name: "Sign out" }).waitFor()

    const elsewhere = await service.call("POST", "/console/session", {
      headers: { "sec-fetch-site": "cross-site" },
    })
    expect(elsewhere.status).toBe(403)
    const signedOut = await service.call("POST", "/console/session", {
      headers: { "sec-fetch-site": "same-origin" },
    })
    expect(signedOut.status).toBe(404)
  })

  it("can be used with the keyboard alone to pick emoji, and moves the focus to the heading of a new view", async () => {
    const page = await openConsole(await browser.person(), service, undefined, "")
    await page.getByLabel("Emoji id").focus()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.getByLabel("Find an emoji by name").waitFor()
    await page.keyboard.type("octop")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    expect(await page.getByLabel("Emoji id").inputValue()).toBe("🐙🐙")
    await page.getByRole("link", { name: "Sign in" }).focus()
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Sign in")
    expect(await page.title()).toBe("Sign in · Emoji Id Directory")
  })

  it("fits the width of a phone and logs no errors", async () => {
    const person = await register(service)
    const page = await openConsole(await browser.person(), service, person, "")
    const errors: string[] = []
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()))
    page.on("pageerror", (error) => errors.push(error.message))
    for (const view of [
      "lookup",
      "market",
      "cart",
      "transfers",
      "boxes",
      "account/profile",
      "account/keys",
    ]) {
      await page.evaluate((hash) => {
        location.hash = hash
      }, `#/${view}`)
      await page.locator(`.view-${view.split("/")[0]} h1`).waitFor()
      expect([view, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([view, 390])
    }
    expect(errors).toEqual([])
  })
})
