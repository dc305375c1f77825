import type { Example } from "../../src/docs-page/examples.ts"
import type { Route } from "../../src/http/route.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { accountRequests } from "../http/keyed-routes/account-requests.ts"
import { apiKeyRequests } from "../http/keyed-routes/api-key-requests.ts"
import { directoryRequests } from "../http/keyed-routes/directory-requests.ts"
import type { KeyedRequest, Prepare } from "../http/keyed-routes/keyed-request.ts"
import { lootboxRequests } from "../http/keyed-routes/lootbox-requests.ts"
import { orderRequests } from "../http/keyed-routes/order-requests.ts"
import { organizationRequests } from "../http/keyed-routes/organization-requests.ts"
import { makeErrorRequests } from "./error-requests.ts"
import { makePageRequests, stripeSettings, stripeWebhook } from "./page-requests.ts"
import { type MakeRequest, makeReadRequests } from "./read-requests.ts"
import { recordEvents } from "./record-events.ts"
import { formOfValue, readablePath, shortened, stabilizer } from "./stable-values.ts"

/** The requests that succeed, of the routes that take an Idempotency-Key. Other tests use them too. */
const keyedRequests: Readonly<Record<string, Prepare>> = {
  ...accountRequests,
  ...apiKeyRequests,
  ...directoryRequests,
  ...lootboxRequests,
  ...orderRequests,
  ...organizationRequests,
}

const shownHeaders = ["content-type", "etag", "link", "location", "retry-after", "www-authenticate"]
const linesOfText = 6
/** The members that the examples of the large documents have. */
const shownMembers: Readonly<Record<string, ReadonlyArray<string>>> = {
  openapi: ["openapi", "info", "servers"],
  asyncapi: ["asyncapi", "info", "servers"],
}

const pick = (value: Record<string, unknown>, names: ReadonlyArray<string>) =>
  Object.fromEntries(names.map((name) => [name, value[name]]))

/** Sends a request and returns it with its response. Everything that differs between runs has a fixed value. */
const record = async (service: TestService, id: string, request: KeyedRequest): Promise<Example> => {
  const { method, options, path } = request
  const answer = await service.call(method, path, options)
  const { stable, text } = stabilizer(service.url)
  const { cookie: _, "content-type": type, ...headers } = options.headers ?? {}
  const sent = (options.body ??
    (type === "application/json" ? JSON.parse(String(options.rawBody)) : undefined)) as unknown
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true
  const members = shownMembers[id]
  const query = (address: string) =>
    address.replaceAll(/((?:refresh_|form_)?token|signature|code|visit)=[^&;]{16,}/g, "$1=…")
  return {
    method,
    path: readablePath(query(text(path))),
    isSignedIn: options.token !== undefined,
    ...(Object.keys(headers).length === 0
      ? {}
      : { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, "t=1769860800,v1=…"])) }),
    ...(sent === undefined ? {} : { body: shortened(stable(sent)) }),
    ...(type !== "application/x-www-form-urlencoded" ? {} : { form: query(text(String(options.rawBody))) }),
    status: answer.status,
    responseHeaders: Object.fromEntries(
      shownHeaders.flatMap((name) => {
        const value = answer.headers.get(name)
        return value === null ? [] : [[name, query(text(value))]]
      }),
    ),
    ...(answer.text === ""
      ? {}
      : isJson
        ? { response: shortened(stable(members === undefined ? answer.body : pick(answer.body, members))) }
        : { text: `${text(answer.text.split("\n").slice(0, linesOfText).join("\n"))}\n…` }),
  }
}

/** The request to `GET /live`. HTTP clients cannot send it, because it opens a WebSocket. */
const live: Example = {
  method: "GET",
  path: "/live",
  isSignedIn: false,
  headers: { connection: "Upgrade", upgrade: "websocket" },
  status: 101,
  responseHeaders: { upgrade: "websocket" },
}

/** Calls every operation, and causes every error. Returns an example of each. */
export const recordExamples = async (rows: ReadonlyArray<Route>) => {
  const service = await serve({}, { peersPossible: true })
  const withStripe = await serve(stripeSettings)
  const reads = await makeReadRequests(service)
  const open: Readonly<Record<string, MakeRequest>> = { ...reads, ...(await makePageRequests(service)) }
  const operations: Record<string, Example> = {}
  for (const { id, internal } of rows) {
    if (internal) continue
    const make = open[id] ?? (keyedRequests[id] && (() => keyedRequests[id]!(service)))
    if (id === "live") operations[id] = live
    else if (id === "stripeWebhook") operations[id] = await record(withStripe, id, stripeWebhook())
    else if (make !== undefined) operations[id] = await record(service, id, await make())
  }
  const events = await recordEvents(service)
  const errors: Record<string, Example> = {}
  for (const [code, make] of Object.entries(await makeErrorRequests(service)))
    errors[code] = await record(service, code, await make())
  return { operations, errors, events }
}

/** The operations with a random response, whose members differ from run to run. A valid old example of them is kept. */
const isRandom = new Set(["random"])

/**
 * Keeps the old example unless the form of the new one is another. Some values are random, and an example that only has
 * other values would be a change without a meaning.
 */
export const keepUnchanged = (
  old: Readonly<Record<string, Example>>,
  recorded: Readonly<Record<string, Example>>,
  isValid: (name: string, example: Example) => boolean = () => true,
): Readonly<Record<string, Example>> =>
  Object.fromEntries(
    Object.entries(recorded).map(([name, example]) => {
      const before = old[name]
      const isSame =
        before !== undefined &&
        before.status === example.status &&
        (isRandom.has(name)
          ? before.path === example.path && isValid(name, before)
          : JSON.stringify(formOfValue(before)) === JSON.stringify(formOfValue(example)))
      return [name, isSame ? before : example]
    }),
  )
