import { execFile, execFileSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { transformSync } from "esbuild"
import { beforeAll, describe, expect, it } from "vitest"
import { password, register } from "../accounts/person.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { serve } from "../fixtures/service.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"
import { freshId, newShopper } from "../orders/shopper.ts"
import { installClient } from "./install-client.ts"

const root = join(import.meta.dirname, "../..")
const service = await serve()
const app = mkdtempSync(join(tmpdir(), "client-app-"))
const installed = join(app, "node_modules/emoji-id-directory-client")
const read = (name: string): string => readFileSync(join(installed, name), "utf8")

const readme = readFileSync(join(root, "src/client/package/README.md"), "utf8")
const examples = [...readme.matchAll(/^```ts (\S+)\n([\s\S]*?)^```/gm)].map(([, name = "", code = ""]) => ({
  name,
  code,
}))

const address = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
let emojiId = ""

beforeAll(async () => {
  await installClient(service, app)
  const manifest = JSON.parse(readFileSync(join(app, "package.json"), "utf8"))
  writeFileSync(join(app, "package.json"), JSON.stringify({ ...manifest, type: "module" }))
  for (const name of ["rxjs", "tslib", "ws", "@types"])
    symlinkSync(join(root, "node_modules", name), join(app, "node_modules", name))
  for (const { code, name } of examples) {
    writeFileSync(join(app, `${name}.ts`), code)
    const { code: script } = transformSync(code.replace("http://localhost:3001", service.url), {
      loader: "ts",
    })
    writeFileSync(join(app, `${name}.js`), script)
  }

  const admin = await newShopper(service, { role: "Admin" })
  emojiId = freshId()
  await admin.call("POST", "/emoji_id", { emoji_id: emojiId, user_id: admin.id })
  const insert = [{ tag: "0x1004", data: address }]
  await admin.call("PATCH", `/emoji_id/${encodeURIComponent(emojiId)}`, { insert })
})

/** Runs the text of a module in a new Node process. Returns what it prints. */
const runInNode = async (script: string, environment: Record<string, string> = {}): Promise<string> => {
  writeFileSync(join(app, "main.js"), script)
  const env = { PATH: process.env["PATH"], ...environment }
  const { stdout } = await promisify(execFile)(process.execPath, ["main.js"], { cwd: app, env })
  return stdout.trim()
}
/** For Node 20, which has no global WebSocket. */
const withSocket = `import { WebSocket } from "ws"\nglobalThis.WebSocket ??= WebSocket\n`

describe("the package of the client", () => {
  it("has no dependencies, and contains compiled modules without code of the server", () => {
    const { dependencies, exports } = JSON.parse(read("package.json"))
    expect(dependencies).toBeUndefined()
    for (const target of Object.values<Record<string, string>>(exports).flatMap(Object.values))
      expect(statSync(join(installed, target)).isFile()).toBe(true)
    const imports = (name: string) => [...read(name).matchAll(/\bfrom "([^"]+)"/g)].map(([, to = ""]) => to)
    /** The module and every module that it loads at once. */
    const loaded = (name: string): ReadonlyArray<string> => [
      ...new Set([name, ...imports(name).flatMap((to) => (to.startsWith("./") ? loaded(to) : [to]))]),
    ]
    const own = loaded("client.js")
    expect(own.slice(1).filter((name) => !/^\.\/shared-\w+\.js$/.test(name))).toEqual([])
    expect(loaded("rxjs.js").filter((name) => !own.includes(name))).toEqual(["rxjs.js", "rxjs"])
    const scripts = own.map(read).join("\n")
    expect(scripts).not.toMatch(/\b(process|Buffer|require)\b/)
    // A wallet loads this on a phone.
    expect(gzipSync(scripts).length).toBeLessThan(19_000)
  })

  it.each([
    [
      "a browser application",
      { lib: ["ES2023", "DOM"], moduleResolution: "bundler", module: "ESNext", types: ["node"] },
    ],
    ["a server", { lib: ["ES2023"], module: "NodeNext", types: ["node"] }],
  ])("has types that compile in strict mode in %s, with all examples", (kind, options) => {
    const files = examples
      .map(({ name }) => `${name}.ts`)
      .filter((name) => kind !== "a server" || !name.startsWith("shop"))
    writeFileSync(
      join(app, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          ...options,
          target: "ES2022",
          strict: true,
          exactOptionalPropertyTypes: true,
          noEmit: true,
          skipLibCheck: false,
        },
        files,
      }),
    )
    expect(execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", app], { encoding: "utf8" })).toBe("")
  })

  it("refuses unknown operations, parameters and members at compile time", () => {
    writeFileSync(
      join(app, "wrong.ts"),
      `import { createClient } from "emoji-id-directory-client"
const client = createClient({ baseUrl: "" })
client.call("GET /emoji_ids")
client.call("GET /emoji_id/{emoji_id}")
client.call("POST /cart", { body: { items: [{ emoji: "x" }] } })
const text: number = (await client.call("GET /cart")).status
`,
    )
    writeFileSync(
      join(app, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          lib: ["ES2023", "DOM"],
          module: "NodeNext",
          target: "ES2022",
          strict: true,
          noEmit: true,
          types: [],
        },
        files: ["wrong.ts"],
      }),
    )
    let printed = ""
    try {
      execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", app], { encoding: "utf8" })
    } catch (error) {
      printed = (error as { stdout: string }).stdout
    }
    const lines = [...printed.matchAll(/wrong\.ts\((\d+),/g)].map(([, line]) => Number(line))
    expect([...new Set(lines)]).toEqual([3, 4, 5, 6])
  })
})

describe("the examples of the client's README", () => {
  it("are at most fifteen lines each", () => {
    const long = examples.filter(({ code }) => code.trim().split("\n").length > 15)
    expect(long.map(({ name }) => name)).toEqual([])
    expect(examples.map(({ name }) => name)).toEqual([
      "wallet",
      "wallet-verify",
      "wallet-watch",
      "shop",
      "shop-cart",
      "partner",
      "partner-orders",
      "dashboard",
    ])
  })

  it("for a wallet returns the confirmed address in Node, and reports a change of the records", async () => {
    const script = `${withSocket}
import { addressFor } from "./wallet.js"
import { watch } from "./wallet-watch.js"
const { ID, URL_OF_SERVICE, TOKEN } = process.env
const asked = []
console.log(await addressFor(ID, async (text) => asked.push(text) > 0), asked.join())
console.log(await addressFor(ID, async () => false))
const stop = new AbortController()
const seen = []
await watch(ID, (text) => {
  seen.push(text)
  if (text.includes("second")) stop.abort()
  else if (seen.length === 1) fetch(URL_OF_SERVICE + "/emoji_id/" + encodeURIComponent(ID), {
    method: "PATCH",
    headers: { authorization: "Bearer " + TOKEN, "content-type": "application/json" },
    body: JSON.stringify({ insert: [{ tag: "0x5001", data: "second" }] }),
  })
}, stop.signal)
console.log(seen.at(-1))
process.exit()`
    const admin = await newShopper(service, { role: "Admin" })
    const environment = { ID: emojiId, URL_OF_SERVICE: service.url, TOKEN: admin.token }
    const [first, refused, last] = (await runInNode(script, environment)).split("\n")
    expect(first).toBe(`${address} ${address}`)
    expect([refused, last]).toEqual(["undefined", "0x5001: second"])
  })

  it("for the server of a partner writes a record once and lists all orders", async () => {
    const owner = await newShopper(service, { freeLimit: 5 })
    const ids = [freshId(), freshId()]
    for (const id of ids) {
      await owner.add(id)
      await owner.checkout({ method: "Free" })
    }
    const { body: key } = await owner.call("POST", "/api_keys", { name: "partner" })
    const script = `
import { publish } from "./partner.js"
import { printOrders } from "./partner-orders.js"
const { ID } = process.env
for (const _ of [1, 2]) await publish(ID, "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "request-1")
await printOrders(console.log)`
    const printed = await runInNode(script, { ID: ids[0]!, DIRECTORY_KEY: key.api_key })
    expect(printed.split("\n")).toEqual([1, 2].map(() => expect.stringMatching(/ Paid$/)))
    const { body } = await service.call("GET", `/emoji_id/${encodeURIComponent(ids[0]!)}`)
    expect(body.result).toHaveLength(1)
  })

  it("for a dashboard counts the purchases of the market", async () => {
    const buyer = await newShopper(service, { freeLimit: 5 })
    const script = `${withSocket}
import { take } from "rxjs"
import { purchases$ } from "./dashboard.js"
purchases$.pipe(take(2)).subscribe({ next: (count) => console.log(count), complete: () => process.exit() })`
    const printed = runInNode(script)
    let isDone = false
    void printed.finally(() => {
      isDone = true
    })
    // Purchases before the subscription are not counted, so further ids are bought until the process has counted two.
    while (!isDone) {
      await buyer.add(freshId())
      await buyer.checkout({ method: "Cash" })
      await service.sql`update app_user set free_limit = free_used + 5 where id = ${buyer.id}`
      await buyer.call("DELETE", "/cart")
      await buyer.add(freshId())
      await buyer.checkout({ method: "Free" })
    }
    expect((await printed).split("\n")).toEqual(["1", "2"])
  })

  it.skipIf(executable === undefined)("for a shop buys an id in Chromium and shows the cart", async () => {
    const person = await register(service)
    await service.sql`update app_user set email_verified_at = now(), free_limit = 5 where id = ${person.id}`
    const browser = await openBrowser()
    const context = await browser.person()
    const imports = { "emoji-id-directory-client": "/node_modules/emoji-id-directory-client/client.js" }
    const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`
    const shop = createServer((request, response) => {
      const name = request.url?.slice(1) ?? ""
      response.setHeader("content-type", name === "" ? "text/html" : "text/javascript")
      response.end(name === "" ? page : readFileSync(join(app, name)))
    }).listen(0, "127.0.0.1")
    await once(shop, "listening")
    cleanUp(async () => void shop.close())
    const tab = await context.newPage()
    await tab.goto(`http://127.0.0.1:${(shop.address() as AddressInfo).port}/`)
    // As text, because vitest replaces `import` in functions.
    const seen = await tab.evaluate(`(async () => {
      const { buy } = await import("/shop.js")
      const { showCart } = await import("/shop-cart.js")
      const order = await buy("${person.email}", "${password}", "${freshId()}")
      const stop = new AbortController()
      const shown = []
      await showCart((items) => { shown.push(items); stop.abort() }, stop.signal)
      return { status: order.status, shown, stored: Object.keys(sessionStorage) }
    })()`)
    expect(seen).toEqual({ status: "Paid", shown: [0], stored: ["emoji-id-tokens"] })
  })
})
