import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"
import { newestLetterLink } from "./oauth/application.ts"

const service = await serveDirectory()
const browser = await openBrowser()

/** A way to the service on which answers are held back once it is slow; what was asked for is done at once. */
const makeWay = async () => {
  let isSlow = false
  let held = 0
  let letGo = (): void => {}
  const isOver = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const server = createServer((near) => {
    const far = connect(Number(new URL(service.url).port), "127.0.0.1")
    near.pipe(far)
    far.on("data", async (answer: Buffer) => {
      if (isSlow) {
        held++
        await isOver
      }
      if (!near.destroyed) near.write(answer)
    })
    near.on("error", () => far.destroy())
    far.on("error", () => near.destroy())
    near.on("close", () => far.destroy())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  cleanUp(() => server.close())
  const { port } = server.address() as AddressInfo
  return {
    to: (address: string) => Object.assign(new URL(address), { host: `127.0.0.1:${port}` }).href,
    slowDown: () => {
      isSlow = true
    },
    held: () => held,
    letGo,
  }
}

/** Within this a browser sends what it will send. */
const momentMs = 500

const pressTwice = async (page: Page, name: string, way: Awaited<ReturnType<typeof makeWay>>) => {
  way.slowDown()
  const box = await page.getByRole("button", { name }).boundingBox()
  if (box === null) throw new Error(`${name} is not there`)
  const press = () => page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
  await press()
  await expect.poll(way.held).toBeGreaterThan(0)
  await press()
  await sleep(momentMs)
  way.letGo()
}

const register = async (email: string) => {
  await service.call("POST", "/users", { body: { email } })
  return newestLetterLink(service, email)
}

describe.skipIf(executable === undefined)("who presses again while the answer is on its way", () => {
  it("is logged in by a link that works once", async () => {
    const way = await makeWay()
    const page = await (await browser.person()).newPage()
    await page.goto(way.to(await register("impatient-1@example.com")))
    await pressTwice(page, "Log me in", way)
    await page.getByRole("heading", { name: "Your address is confirmed" }).waitFor()
  })

  it("has the password that was set, and is still logged in", async () => {
    const way = await makeWay()
    const page = await (await browser.person()).newPage()
    await page.goto(way.to(await register("impatient-2@example.com")))
    await page.getByRole("button", { name: "Log me in" }).click()
    await page.getByLabel("Password").fill("a password for the impatient")
    await pressTwice(page, "Set it", way)
    await page.getByLabel("Password").waitFor({ state: "detached" })
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Your address is confirmed")
  })
})
