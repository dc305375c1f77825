import { ProxyCallParameters, ProxyResult } from "../../schema/proxy/proxy.ts"
import { route } from "../http/route.ts"
import { Proxied } from "./named-services.ts"

const call = route({
  id: "callProxy",
  keyless: true,
  group: "proxy",
  summary: "Call a proxy service",
  description:
    "`Echo` returns the data, and `Scraper` sends it to the operator's SCRAPER_URL. If the service is not configured or does not answer, the answer is 503.",
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
