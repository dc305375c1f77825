import { expect, it } from "vitest"
import { openApi } from "../../src/http/openapi.ts"
import type { Operation, Shapes } from "../../src/operations/docs-document.ts"
import { routes } from "../../src/routes.ts"
import { AnyRequests } from "../fixtures/any-request.ts"
import { type Answer, serve } from "../fixtures/service.ts"
import { seeded } from "../fixtures/walk.ts"

const seeds = [7, 99]
const requestsPerSeed = 1_500
/**
 * Statuses that every operation may return without declaring them: body or headers too large, rate limited,
 * unavailable.
 */
const anywhere = [413, 429, 431, 503]
/** Operations that are not called, because they end the sessions of the caller, which later requests need. */
const endsCaller = new Set(["logout"])

const service = await serve()
const document = openApi(routes, [service.url])
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as Record<string, Operation>)
    .filter(([, { operationId }]) => !endsCaller.has(operationId))
    .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
)

/** Returns what is wrong with the status or the JSON body of a response, or undefined if nothing is wrong. */
const faultOf = ({ responses }: Operation, { body, headers, status, text }: Answer): string | undefined => {
  if (status >= 500 && status !== 503) return "failed with"
  if (!(status in responses) && !anywhere.includes(status) && status >= 400)
    return "returned undeclared status"
  if (!headers.get("content-type")?.startsWith("application/json")) return undefined
  if (body === undefined) return "returned no JSON with"
  if (status >= 400 && typeof body.error !== "string") return "returned no error text with"
  if (status === 422 && typeof body.fields !== "object" && !text.includes("error_description"))
    return "named no field with"
  return undefined
}

it.each(seeds)("random requests get only declared, well-formed errors (seed %i)", async (seed) => {
  const luck = seeded(seed)
  const requests = new AnyRequests(document.components.schemas as Shapes, luck)
  const admin = await service.user({ role: "Admin" })
  const callers = [admin, admin, await service.user(), await service.user(), undefined]
  const faults: Array<string> = []
  for (let n = 0; n < requestsPerSeed; n++) {
    const { method, operation, path } = luck.pick(operations)!
    const caller = luck.pick(callers)
    const made = requests.make(path, operation)
    const answer = await service.call(method, made.path, {
      headers: made.headers,
      ...(caller === undefined ? {} : { token: caller.token }),
      ...(made.body === undefined || method === "GET" ? {} : { rawBody: made.body }),
    })
    const fault = faultOf(operation, answer)
    if (fault !== undefined)
      faults.push(
        `${method} ${made.path} ${fault} ${answer.status} to ${made.body}: ${answer.text.slice(0, 200)}`,
      )
    else if (answer.status < 300) requests.remember(answer.body)
  }
  expect(faults).toEqual([])
})
