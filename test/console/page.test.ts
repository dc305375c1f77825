import { gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { emojis } from "../../schema/directory/emoji.ts"
import { emojiGroups } from "../../src/console/emoji-groups.ts"
import { serve } from "../fixtures/service.ts"

const service = await serve()
const admin = await service.user({ role: "Admin" })
const owner = await service.user()

describe("the console page", () => {
  it("contains the result of a lookup of the id in the query", async () => {
    await service.call("POST", "/emoji_id", {
      token: admin.token,
      body: { emoji_id: "🐙🌊", user_id: owner.id },
    })
    const { headers, status, text } = await service.call("GET", `/?emoji_id=${encodeURIComponent("🐙🌊")}`)
    expect(status).toBe(200)
    expect(headers.get("content-security-policy")).toContain("script-src 'self'")
    expect(text).toContain("octopus, ocean")
  })

  it("escapes the requested id, and shows why the id is invalid", async () => {
    const { status, text } = await service.call("GET", `/?emoji_id=${encodeURIComponent('"><b>x</b>')}`)
    expect(status).toBe(200)
    expect(text).not.toContain("<b>x")
    expect(text).toContain("is not a supported emoji")
  })

  it("loads files whose names contain their hash, which the browser may cache permanently", async () => {
    const { text } = await service.call("GET", "/")
    const seen = new Map<string, string>()
    const follow = async (path: string): Promise<void> => {
      if (seen.has(path)) return
      const { headers, status, text: source } = await service.call("GET", path)
      const cached = headers.get("cache-control")
      expect([path, status, cached]).toEqual([path, 200, "public, max-age=31536000, immutable"])
      seen.set(path, source)
      for (const [, to] of source.matchAll(/["'`]\.\/([^"'`]+)["'`]/g)) await follow(`/assets/${to}`)
    }
    const scripts = [...text.matchAll(/(?:modulepreload" href|module" src)="([^"]+)"/g)]
    for (const [, path = ""] of scripts) await follow(path)
    expect([...seen.keys()].filter((path) => !/^\/assets\/[\w-]+-[A-Z0-9]{8}\.js$/.test(path))).toEqual([])
    expect([...seen.keys()]).toContainEqual(expect.stringMatching(/\/transfers-/))
    // A phone on a slow network loads all of it.
    const size = [...seen.values()].reduce((sum, source) => sum + gzipSync(source).length, 0)
    expect(size).toBeLessThan(150_000)
  })

  it("lists every file that its script imports at once, so that the browser fetches them in parallel", async () => {
    const { text } = await service.call("GET", "/")
    const preloaded = [...text.matchAll(/modulepreload" href="([^"]+)"/g)].map(([, path = ""]) => path)
    const [, entry = ""] = /module" src="([^"]+)"/.exec(text) ?? []
    for (const path of [entry, ...preloaded]) {
      const { text: source } = await service.call("GET", path)
      const imported = [...source.matchAll(/(?:from|import)"\.\/([^"]+)"/g)].map(
        ([, file]) => `/assets/${file}`,
      )
      expect(preloaded).toEqual(expect.arrayContaining(imported))
    }
  })

  it("preloads its font, which is served from the same origin", async () => {
    const { text } = await service.call("GET", "/")
    const [, font = ""] = /rel="preload" href="([^"]+)" as="font"/.exec(text) ?? []
    const { headers, status } = await service.call("GET", font)
    expect([status, headers.get("content-type")]).toEqual([200, "font/woff2"])
    const [, style = ""] = /rel="stylesheet" href="(\/assets\/site-[^"]+)"/.exec(text) ?? []
    expect((await service.call("GET", style)).text).toContain(font.replace("/assets/", ""))
  })

  it("has an icon that is cached only with the hash of its content", async () => {
    const cache = async (query: string) =>
      (await service.call("GET", `/assets/icon.svg${query}`)).headers.get("cache-control")
    const { text } = await service.call("GET", "/")
    const [, query = ""] = /icon\.svg(\?v=[\w-]+)/.exec(text) ?? []
    expect(await cache(query)).toBe("public, max-age=31536000, immutable")
    expect(await cache("?v=another")).toBe("no-cache")
    expect((await service.call("GET", "/assets/boxes-00000000.js")).status).toBe(404)
  })

  it("offers every supported emoji in exactly one group of the emoji picker", () => {
    const offered = emojiGroups.flatMap(([, members]) => members.split(" "))
    expect(offered.toSorted()).toEqual(emojis.map(({ canonical }) => canonical).toSorted())
  })

  it("loads nothing from other origins and has no inline styles", async () => {
    const { text } = await service.call("GET", "/")
    expect(text).not.toMatch(/style="|https?:\/\/(?!127\.0\.0\.1)/)
  })
})

describe("GET /admin/events", () => {
  const list = (query: string, token = admin.token) =>
    service.call("GET", `/admin/events?${query}`, { token })

  it("lists events newest first, in pages in both directions, and filters events by kind", async () => {
    const buyer = await service.user()
    for (const id of ["🎲🔥", "🎲🌊", "🎲🐙"]) {
      await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: id }] } })
    }
    const all = (await list("limit=200")).body.data
    expect(all.length).toBeGreaterThanOrEqual(6)

    const pages = []
    let before = ""
    do {
      const { body } = await list(`limit=2${before === "" ? "" : `&before=${before}`}`)
      pages.push(...body.data)
      before = body.before ?? ""
    } while (before !== "")
    expect(pages).toEqual(all)

    const { after } = (await list("limit=1")).body
    expect((await list(`after=${after}`)).body).toEqual({ data: [], after })
    await service.call("DELETE", "/cart", { token: buyer.token })
    const { data } = (await list(`after=${after}`)).body
    expect(data.map(({ event }: { event: string }) => event).toSorted()).toEqual([
      "cart.changed",
      "order.changed",
    ])
    const carts = (await list("kind=cart&limit=200")).body.data
    expect(new Set(carts.map(({ channel }: { channel: string }) => channel.split(":")[0]))).toEqual(
      new Set(["cart"]),
    )
  })

  it("also lists an event of a transaction that commits after newer events have been listed", async () => {
    const put = (sql: Pick<typeof service.sql, "unsafe">, channel: string) =>
      sql.unsafe("select put_events($1::text::jsonb)", [
        JSON.stringify([{ channel, type: "test.happened", data: {} }]),
      ])
    const listAfter = async (after: string) => {
      const { body } = await list(`kind=test&after=${after}`)
      return [body.data.map(({ channel }: { channel: string }) => channel), body.after]
    }
    await put(service.sql, "test:first")
    let { after } = (await list("kind=test")).body
    const channels: Array<Array<string>> = []
    await service.sql.begin(async (slow) => {
      await put(slow, "test:slow")
      await put(service.sql, "test:quick")
      const [quick, next] = await listAfter(after)
      channels.push(quick)
      after = next
    })
    const [late, end] = await listAfter(after)
    channels.push(late, (await listAfter(end))[0])
    expect(channels).toEqual([["test:quick"], ["test:slow"], []])
  })

  it("rejects invalid cursors with 400 and users without permission with 403", async () => {
    const cursors = [
      "yesterday",
      "2026-13-01 00:00:00+00",
      "2026-02-30 00:00:00+00",
      "0000-01-01 00:00:00+00",
    ]
      .map((at) => ({ at, channel: "a", offset: 1 }))
      .concat({ at: "2026-01-01 00:00:00+00", channel: "\0", offset: 1 })
      .map((cursor) => Buffer.from(JSON.stringify(cursor)).toString("base64url"))
    for (const cursor of ["x", ...cursors]) expect((await list(`before=${cursor}`)).status).toBe(400)
    expect((await list("", owner.token)).status).toBe(403)
  })
})

describe("GET /transfers?all=true", () => {
  it("requires an administrator", async () => {
    expect((await service.call("GET", "/transfers?all=true", { token: admin.token })).status).toBe(200)
    expect((await service.call("GET", "/transfers?all=true", { token: owner.token })).status).toBe(403)
  })
})
