import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"
import { newestMailLink } from "./oauth/application.ts"

const service = await serveDirectory()
const browser = await openBrowser()

/**
 * Starts a proxy to the service. After `slowDown` is called, it delays responses until `release` is called. Requests
 * are always forwarded immediately.
 */
const startSlowProxy = async () => {
  let isSlow = false
  let held = 0
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const server = createServer((near) => {
    const far = connect(Number(new URL(service.url).port), "127.0.0.1")
    near.pipe(far)
    far.on("data", async (answer: Buffer) => {
      if (isSlow) {
        held++
        await released
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
    release,
  }
}

/** The test waits this long after the second press, so that the browser can send a second request. */
const momentMs = 500

const pressTwice = async (page: Page, name: string, proxy: Awaited<ReturnType<typeof startSlowProxy>>) => {
  proxy.slowDown()
  const box = await page.getByRole("button", { name }).boundingBox()
  if (box === null) throw new Error(`${name} was not found`)
  const press = () => page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
  await press()
  await expect.poll(proxy.held).toBeGreaterThan(0)
  await press()
  await sleep(momentMs)
  proxy.release()
}

const register = async (email: string) => {
  await service.call("POST", "/users", { body: { email } })
  return newestMailLink(service, email)
}

describe.skipIf(executable === undefined)(
  "a button that is pressed twice before the response arrives",
  () => {
    it("logs the user in, although the link works only once", async () => {
      const proxy = await startSlowProxy()
      const page = await (await browser.person()).newPage()
      await page.goto(proxy.to(await register("impatient-1@example.com")))
      await pressTwice(page, "Sign in", proxy)
      await page.getByRole("heading", { name: "Your address is confirmed" }).waitFor()
    })

    it("sets the password and keeps the user logged in", async () => {
      const proxy = await startSlowProxy()
      const page = await (await browser.person()).newPage()
      await page.goto(proxy.to(await register("impatient-2@example.com")))
      await page.getByRole("button", { name: "Sign in" }).click()
      await page.getByLabel("Password").fill("a password for the impatient")
      await pressTwice(page, "Set password", proxy)
      await page.getByLabel("Password").waitFor({ state: "detached" })
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Your address is confirmed")
    })
  },
)
