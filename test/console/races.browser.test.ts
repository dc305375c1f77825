import { describe, expect, it } from "vitest"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { openConsole, register } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

const lookUp = async (page: Awaited<ReturnType<typeof openConsole>>, id: string) => {
  await page.getByLabel("Emoji id").fill(id)
  await page.getByRole("button", { name: "Look up" }).click()
}

describe.skipIf(executable === undefined)("the console with delays, failures or unusual data", () => {
  it("shows the newest records when an older response arrives last", async () => {
    const owner = await register(service)
    await service.register("🐢🎳", owner)
    const person = await browser.person()
    const held: Array<() => void> = []
    let answers = 0
    let sendFrame = (_frame: unknown) => {}
    await person.routeWebSocket(/\/live$/, (socket) => {
      const server = socket.connectToServer()
      sendFrame = (frame) => socket.send(JSON.stringify(frame))
      server.onMessage((text) => {
        const isFirst = JSON.parse(String(text)).type === "records" && ++answers === 1
        if (isFirst) held.push(() => socket.send(text))
        else socket.send(text)
      })
    })
    const page = await openConsole(person, service, undefined, "")
    await lookUp(page, "🐢🎳")
    await page.getByText("This id has no records yet.").waitFor()
    await service.edit("🐢🎳", owner, { insert: [{ tag: "0x0005", data: "first" }] })
    await expect.poll(() => held.length).toBe(1)
    await service.edit("🐢🎳", owner, { insert: [{ tag: "0x0005", data: "second" }] })
    await page.getByText("second").waitFor()
    held[0]?.()
    // Frames are processed in order. When the content of this frame is shown, the held frame was already processed.
    sendFrame({
      type: "subscribed",
      channel: "market",
      epoch: "e",
      offset: 1,
      recovered: false,
      state: { result: [{ emoji_id: "🎺" }] },
    })
    await page.locator(".story", { hasText: "🎺" }).waitFor()
    expect(await page.locator(".records").textContent()).toContain("second")
  })

  it("keeps the text and the focus of the lookup form when the scripts finish loading", async () => {
    const owner = await register(service)
    await service.register("🐢🎯", owner)
    const person = await browser.person()
    let load = () => {}
    const isLoading = new Promise<void>((resolve) => {
      load = resolve
    })
    await person.route("**/console/vocabulary", async (route) => {
      await isLoading
      await route.continue()
    })
    const page = await person.newPage()
    await page.goto(`${service.url}/`)
    await page.getByLabel("Emoji id").pressSequentially("🐢🎯")
    load()
    await page.locator(".view-lookup").waitFor()
    await page.keyboard.press("Enter")
    await page.getByText("This id has no records yet.").waitFor()
  })

  it("reconnects when the server stops responding on the WebSocket", async () => {
    const owner = await register(service)
    await service.register("🐢🎻", owner)
    const person = await browser.person()
    let isCut = false
    let sockets = 0
    await person.routeWebSocket(/\/live$/, (socket) => {
      const own = ++sockets
      const server = socket.connectToServer()
      socket.onMessage((text) => (isCut && own === 1 ? undefined : server.send(text)))
      server.onMessage((text) => (isCut && own === 1 ? undefined : socket.send(text)))
    })
    const page = await person.newPage()
    await page.clock.install()
    await page.goto(`${service.url}/`)
    await page.locator("#live-state", { hasText: "Live" }).waitFor()
    await page.locator("#view > .view").waitFor()
    await lookUp(page, "🐢🎻")
    await page.getByText("This id has no records yet.").waitFor()
    isCut = true
    await service.edit("🐢🎻", owner, { insert: [{ tag: "0x0005", data: "still here" }] })
    await page.clock.runFor(60_000)
    await page.clock.runFor(60_000)
    await page.getByText("still here").waitFor()
  })

  it("starts even if the URL fragment is malformed", async () => {
    const page = await openConsole(await browser.person(), service, undefined, "#/lookup/%")
    await page.getByRole("button", { name: "Pick emoji" }).waitFor()
  })

  it("shows the value of a record and its other fields separately", async () => {
    const owner = await register(service)
    await service.register("🐢🎹", owner)
    const token = "USDX|Dollar X|Ethereum|0x52908400098527886E0F7030069857D2E4169EE7|savings"
    const insert = [
      { tag: "0x0004", data: "https://shop.example/?pick=a|b" },
      { tag: "0x4001", data: "shop|https://shop.example/all" },
      { tag: "0x5001", data: "left|right|t" },
      { tag: "0x6300", data: token },
      { tag: "0x3fff", data: "XYZ|xyz1qaddress|mine||t" },
    ]
    await service.edit("🐢🎹", owner, { insert })
    const page = await openConsole(await browser.person(), service, undefined, "")
    await lookUp(page, "🐢🎹")
    await page.getByText("Network: ethereum").waitFor()
    const shown = await page
      .locator(".records .record")
      .evaluateAll((records) =>
        records.map((record) =>
          [...record.children].map(({ textContent }) => textContent).filter((text) => text !== ""),
        ),
      )
    expect(shown).toEqual([
      ["Redirect", "https://shop.example/?pick=a|b"],
      ["Web link", "https://shop.example/all", "shop"],
      ["Text", "left|right|t"],
      [
        "USDX token",
        "0x52908400098527886E0F7030069857D2E4169EE7",
        "USDX · Dollar X · Ethereum · savings",
        "Network: ethereum",
      ],
      ["XYZdefault", "xyz1qaddress", "mine"],
    ])
  })

  it("fits the width of a small phone, even with very long ids, links, email addresses and texts", async () => {
    const person = await register(service)
    const [owned, wanted] = ["🐢🎹🐢🎹🐢🎹", "🐙🎈🎲🍀🐙🎲"]
    await service.register(owned, person)
    const insert = [
      { tag: "0x4001", data: `https://example.com/${"long".repeat(60)}` },
      { tag: "0x5001", data: "w".repeat(300) },
    ]
    await service.edit(owned, person, { insert })
    const { token } = person
    await service.call("POST", "/cart", { token, body: { items: [{ emoji_id: wanted }] } })
    const email = `${"somebody".repeat(7)}@${"example".repeat(7)}.com`
    await service.call("POST", "/transfers", {
      token,
      body: { eid: owned, email, message: "m".repeat(300) },
    })
    const page = await openConsole(await browser.person(), service, person, "#/cart")
    await page.setViewportSize({ width: 320, height: 640 })
    const widest = async () => page.evaluate(() => document.documentElement.scrollWidth)
    for (const [view, shown] of [
      ["cart", wanted],
      ["transfers", "mmmm"],
      [`lookup/${owned}`, "wwww"],
      [`market/${owned}`, "Taken"],
      ["ids", owned],
      [`ids/${owned}`, "wwww"],
    ] as const) {
      await page.goto(`${service.url}/#/${view}`)
      await page.locator("#view").getByText(shown).first().waitFor()
      expect([view, await widest()]).toEqual([view, 320])
    }
  })

  it("shows an error when the script of a view fails to load, and loads the view when the user retries", async () => {
    const person = await register(service)
    const context = await browser.person()
    const page = await openConsole(context, service, person, "#/cart")
    await context.route("**/assets/boxes-*", (route) => route.abort())
    await page.getByRole("link", { name: "Boxes" }).click()
    await page.getByText("The service cannot be reached. Try again.").first().waitFor()
    await context.unroute("**/assets/boxes-*")
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByRole("heading", { name: "Lootboxes" }).waitFor()
  })

  it("marks a view as busy while its data loads, shows an error on failure, and retries when the network is back", async () => {
    const person = await register(service)
    const context = await browser.person()
    const page = await openConsole(context, service, person, "#/account/profile")
    await page.getByLabel("First name").waitFor()
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await context.route("**/api_keys", async (route) => {
      await held
      await route.abort()
    })
    await page.getByRole("link", { name: "← Account" }).click()
    await page.getByRole("link", { name: /^API keys/ }).click()
    await page.locator("#view[aria-busy]").waitFor()
    letGo()
    await page.getByRole("heading", { name: "This page could not be loaded" }).waitFor()
    expect(await page.title()).toContain("This page could not be loaded")
    expect(await page.locator("#view[aria-busy]").count()).toBe(0)
    await context.unroute("**/api_keys")
    await page.evaluate(() => dispatchEvent(new Event("online")))
    await page.getByText("No API keys yet.").waitFor()
  })
})
