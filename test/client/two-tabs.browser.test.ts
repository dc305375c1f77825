import { buildSync } from "esbuild"
import type { BrowserContext, Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import type { createClient } from "../../src/client/client.ts"
import { totpCode, turnOnTotp } from "../accounts/person.ts"
import { register } from "../console/console-person.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { serve } from "../fixtures/service.ts"
import { passGrace } from "./pass-grace.ts"

declare global {
  var makeClient: typeof createClient
  var client: ReturnType<typeof createClient>
  /** If true, the next call uses an expired token. */
  var isEnded: boolean
}

// With `peersPossible`, the service notices changes that the test makes in the database.
const service = await serve({}, { peersPossible: true })
const browser = await openBrowser()
const [bundle] = buildSync({
  stdin: {
    contents: `import { createClient } from "./src/client/client.ts"; globalThis.makeClient = createClient`,
    resolveDir: ".",
  },
  bundle: true,
  write: false,
  format: "iife",
}).outputFiles

/** Starts a browser with a logged-in user. `openShop` opens the shop in a tab. */
const visit = async () => {
  const person = await register(service)
  const context: BrowserContext = await browser.person()
  await context.route("**/shop", (route) =>
    route.fulfill({ contentType: "text/html", body: `<!doctype html><script src="/shop.js"></script>` }),
  )
  await context.route("**/shop.js", (route) =>
    route.fulfill({ contentType: "text/javascript", body: bundle?.text ?? "" }),
  )
  const openShop = async (): Promise<Page> => {
    const page = await context.newPage()
    await page.goto(`${service.url}/shop`)
    await page.evaluate((refreshToken) => {
      globalThis.isEnded = false
      globalThis.client = makeClient({
        baseUrl: location.origin,
        refreshToken,
        fetch: (input, init) => {
          const headers = new Headers(init?.headers)
          if (globalThis.isEnded && headers.has("authorization")) {
            headers.set("authorization", "Bearer ended")
            globalThis.isEnded = false
          }
          return fetch(input, { ...init, headers })
        },
      })
    }, person.tokens.refresh_token)
    return page
  }
  return { context, openShop, passGrace: () => passGrace(service, person.token), person }
}

/** Returns the user whose account the tab receives after its token has expired. */
const renewedIn = (page: Page): Promise<string> =>
  page
    .evaluate(async () => {
      globalThis.isEnded = true
      return (await client.call("GET /account")).user.email ?? ""
    })
    .catch(String)

describe.skipIf(executable === undefined)("two tabs with one login", () => {
  it("stay logged in when they renew the token in turn", async () => {
    const { openShop, passGrace, person } = await visit()
    const tabs = [await openShop(), await openShop()]
    const shown: Array<string> = []
    for (const tab of [...tabs, ...tabs]) {
      shown.push(await renewedIn(tab))
      await passGrace()
    }
    expect(shown).toEqual(Array(4).fill(person.email))
  })

  it("stay logged in when the second tab starts with a refresh token that the first tab has replaced", async () => {
    const { openShop, passGrace, person } = await visit()
    const first = await openShop()
    expect(await renewedIn(first)).toBe(person.email)
    await passGrace()
    const second = await openShop()
    expect([await renewedIn(second), await renewedIn(first)]).toEqual([person.email, person.email])
  })

  it("stay logged in when the refresh response of one tab is lost and then the other tab refreshes", async () => {
    const { context, openShop, passGrace, person } = await visit()
    const [one, two] = [await openShop(), await openShop()]
    await context.route(
      "**/auth/token/refresh",
      async (route) => {
        await route.fetch()
        await route.abort()
      },
      { times: 1 },
    )
    expect(await renewedIn(one)).toContain("Failed to fetch")
    await passGrace()
    expect([await renewedIn(two), await renewedIn(one)]).toEqual([person.email, person.email])
  })

  it("stay logged in when one tab enters a two-factor code", async () => {
    const { openShop, passGrace, person } = await visit()
    const [one, two] = [await openShop(), await openShop()]
    const { secret } = await turnOnTotp(service, person.token)
    expect(await renewedIn(two)).toBe(person.email)
    await passGrace()
    await one.evaluate((code) => client.enterCode(code), totpCode(secret))
    await passGrace()
    expect([await renewedIn(two), await renewedIn(one)]).toEqual([person.email, person.email])
  })
})
