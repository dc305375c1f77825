import { expect } from "vitest"
import type { DirectoryService } from "../directory/directory-service.ts"
import { serveCallbacks } from "../sign-in/oauth/callback-server.ts"

/**
 * Creates a partner whose return link is a page on this machine. `returns` collects the parameters of each return. In
 * production such a link is refused, so the caller passes another one.
 */
export const makePartner = async (service: DirectoryService, path = "octo", returnLink?: string) => {
  const returns: Array<URLSearchParams> = []
  const origin = await serveCallbacks((url, _request, response) => {
    if (url.pathname === "/wallet") returns.push(url.searchParams)
    response.end(`<h1>Back in the wallet</h1>`)
  })
  const { body } = await service.call("POST", "/organizations", {
    token: service.admin.token,
    body: {
      name: "Octo Wallet",
      partner_path: path,
      return_link: returnLink ?? `${origin}/wallet?from=directory`,
    },
  })
  expect(body.partner_path).toBe(path)
  return { id: body.id as string, path, origin, returns, home: `${service.url}/partner/${path}` }
}

export const addressJson = (items: ReadonlyArray<Record<string, string>>) =>
  Buffer.from(JSON.stringify(items)).toString("base64")

/** Registers a user as a wallet does, with an alternate_id and without an email. */
export const makeWalletUser = async (service: Pick<DirectoryService, "call">, name: string) => {
  const { body, status } = await service.call("POST", "/users", {
    body: { alternate_id: name, password: "a wallet makes long passwords", source: "octo" },
  })
  expect(status).toBe(200)
  const claims = JSON.parse(Buffer.from(body.access_token.split(".")[1], "base64url").toString())
  return {
    id: claims.sub as string,
    email: "",
    token: body.access_token as string,
    refresh: body.refresh_token as string,
  }
}
