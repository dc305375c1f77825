import { ProxyCallParameters, ProxyResult } from "../../schema/proxy/proxy.ts"
import { route } from "../http/route.ts"
import { Proxied } from "./named-services.ts"

const call = route({
  id: "callProxy",
  keyless: true,
  group: "proxy",
  summary: "Call a proxy service: Echo returns the data, Scraper calls SCRAPER_URL",
  method: "post",
  path: "/proxy",
  auth: "JWT",
  limit: "write",
  work: "provider",
  body: ProxyCallParameters,
  success: ProxyResult,
  errors: [],
  handler: ({ body }) => Proxied.use((services) => services[body.service](body.data ?? "")),
})

export const proxy = [call] as const
