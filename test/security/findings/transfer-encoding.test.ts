import { describe, expect, it } from "vitest"
import { exchange } from "../../fixtures/raw-http.ts"
import { serve } from "../../fixtures/service.ts"

const service = await serve()
const port = Number(new URL(service.url).port)
const send = (line: string, header: string) =>
  exchange(port, `${line} HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n0\r\n\r\n`)

const lines = [
  "GET /health",
  "HEAD /health",
  "GET /emoji_id/%F0%9F%9A%80",
  "GET /unknown",
  "OPTIONS /health",
  "POST /auth/token",
  "PUT /organizations/x/branding",
  "PATCH /account",
  "DELETE /cart",
]

describe.each(lines)("%s", (line) => {
  it.each(["gzip", "gzip, chunked", "chunked, chunked", "identity", "xchunked"])(
    "is rejected with 400 if its Transfer-Encoding is %s",
    async (coding) => {
      expect(await send(line, `Transfer-Encoding: ${coding}`)).toMatch(/^HTTP\/1\.1 400 /)
    },
  )

  it("is rejected with 400 if it has both Transfer-Encoding and Content-Length", async () => {
    const headers = "Transfer-Encoding: chunked\r\nContent-Length: 5"
    expect(await send(line, headers)).toMatch(/^HTTP\/1\.1 400 /)
  })
})

it("a GET with the Transfer-Encoding chunked is answered", async () => {
  expect(await send("GET /health", "Transfer-Encoding: chunked")).toMatch(/^HTTP\/1\.1 200 /)
})
