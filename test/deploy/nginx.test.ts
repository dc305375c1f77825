import { request as httpRequest } from "node:http"
import { Agent, type RequestOptions, request } from "node:https"
import { describe, expect, it } from "vitest"
import { liveSocket } from "../fixtures/live-client.ts"
import { certificates } from "../fixtures/servers/certificates.ts"
import { serve } from "../fixtures/service.ts"
import { nginxBinary, startNginx } from "./nginx.ts"

const password = "correct horse battery"

describe.skipIf(nginxBinary === undefined)("deploy/nginx.conf in front of two processes", async () => {
  const perProcess = 2
  const settings = { TRUST_PROXY: "on", RATE_LIMIT: "on", LIVE_MAX_SOCKETS_PER_ADDRESS: String(perProcess) }
  const first = await serve(settings, { peersPossible: true })
  const second = await serve(settings, { peersPossible: true, database: first.database })
  const portOf = ({ url }: { readonly url: string }) => Number(new URL(url).port)
  const { http, https } = await startNginx([portOf(first), portOf(second)])
  const admin = await first.user({ role: "Admin" })
  const emoji_id = "🚀🌊🔥"
  await first.call("POST", "/emoji_id", { token: admin.token, body: { emoji_id, user_id: admin.id } })
  const agent = new Agent({ ca: certificates.authority, keepAlive: true })

  const call = (
    path: string,
    { body, ...options }: RequestOptions & { readonly body?: unknown } = {},
  ): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const sent = request(
        `https://localhost:${https}${path}`,
        { agent, ...options, headers: { "content-type": "application/json", ...options.headers } },
        (response) => {
          let text = ""
          response.setEncoding("utf8")
          response.on("data", (part: string) => {
            text += part
          })
          response.on("error", reject)
          response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
        },
      )
      sent.on("error", reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })

  it("tells the service the address of the caller, and not one that the caller claims", async () => {
    const email = "caller@example.com"
    const headers = { "x-forwarded-for": "203.0.113.7" }
    const post = (path: string, body: unknown) => call(path, { method: "POST", body, headers })
    expect((await post("/users", { email, password })).status).toBe(200)
    const login = await post("/auth/token", { email, password })
    const authorization = `Bearer ${JSON.parse(login.text).access_token}`
    const { text } = await call("/account/sessions", { headers: { ...headers, authorization } })
    const sessions = JSON.parse(text) as ReadonlyArray<{ address?: string }>
    expect(new Set(sessions.map(({ address }) => address))).toEqual(new Set(["127.0.0.1"]))
  })

  it("redirects http to https, and does not serve metrics", async () => {
    const location = await new Promise((resolve, reject) =>
      httpRequest(
        { port: http, host: "127.0.0.1", path: "/docs?a=1", headers: { host: "localhost" } },
        (response) => resolve([response.statusCode, response.headers.location]),
      )
        .on("error", reject)
        .end(),
    )
    expect(location).toEqual([308, "https://localhost/docs?a=1"])
    expect((await call("/metrics")).status).toBe(404)
  })

  it("passes live events on, through whichever process the socket is connected to", async () => {
    const client = await liveSocket(`https://localhost:${https}`, {}, certificates.authority)()
    client.send({ type: "connect" })
    client.send({ type: "subscribe", channel: `emoji_id:${emoji_id}` })
    await client.take({ type: "subscribed" })
    const body = { insert: [{ tag: "0x4001", data: "https://example.com" }] }
    const path = `/emoji_id/${encodeURIComponent(emoji_id)}`
    expect((await first.call("PATCH", path, { token: admin.token, body })).status).toBe(200)
    await client.take({ type: "event", channel: `emoji_id:${emoji_id}` })
    client.close()
  })

  it("counts live sockets by the address of the caller, and not by one that the caller claims", async () => {
    const open = (n: number) =>
      liveSocket(
        `https://localhost:${https}`,
        { "x-forwarded-for": `203.0.113.${n}` },
        certificates.authority,
      )()
    const opened = await Promise.allSettled(Array.from({ length: 2 * perProcess + 1 }, (_, n) => open(n)))
    const refused = opened.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []))
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]).toContain("429")
    for (const one of opened) if (one.status === "fulfilled") one.value.close()
  })

  it("answers every request while one of the processes is stopped", async () => {
    const answers: Array<number> = []
    let isStopped = false
    const caller = async () => {
      while (!isStopped || answers.length < 200)
        answers.push((await call(`/emoji_id/${encodeURIComponent(emoji_id)}`)).status)
    }
    const callers = Promise.all(Array.from({ length: 4 }, caller))
    await expect.poll(() => answers.length).toBeGreaterThan(50)
    await second.stop()
    isStopped = true
    await callers
    expect(new Set(answers)).toEqual(new Set([200]))
  })
})
