import { call, readIdsWithFacts } from "../platform/api.ts"

const pageSize = 200
const idsPerLookup = 100
const storeKeys = "SvcPageData,SvcLinkData,VisualizerData,VisualizerName,VisualizerFileLocations"

interface Page {
  readonly data: ReadonlyArray<unknown>
  readonly paging: { readonly next?: string }
}
interface PageQuery {
  readonly limit: number
  readonly after?: string
}

const all = async (read: (query: PageQuery) => Promise<Page>): Promise<ReadonlyArray<unknown>> => {
  const found: Array<unknown> = []
  let query: PageQuery = { limit: pageSize }
  for (;;) {
    const { data, paging } = await read(query)
    found.push(...data)
    if (paging.next === undefined) return found
    query = { limit: pageSize, after: paging.next }
  }
}

/** The ids of the user with their records and the data that is stored with them. */
const readOwned = async (): Promise<ReadonlyArray<unknown>> => {
  const ids = await readIdsWithFacts()
  const owned: Array<unknown> = []
  for (let at = 0; at < ids.length; at += idsPerLookup) {
    const part = ids.slice(at, at + idsPerLookup)
    const emoji_ids = part.map(({ canonical_format }) => canonical_format)
    const { result } = await call("POST /emoji_id/lookup", { body: { emoji_ids } })
    for (const [i, id] of part.entries()) {
      const stored_data = await call("GET /emoji_id/{emoji_id}/json", {
        params: { emoji_id: id.canonical_format },
        query: { keys: storeKeys },
      })
      owned.push({ ...id, lookup: result[i], stored_data })
    }
  }
  return owned
}

/** The parts of the export, in the order in which they are read. */
const parts: Readonly<Record<string, () => Promise<unknown>>> = {
  account: () => call("GET /account"),
  emoji_ids: readOwned,
  orders: () => all((query) => call("GET /orders", { query })),
  transfers_sent: () => all((query) => call("GET /transfers", { query })),
  transfers_received: () => call("GET /transfers/incoming"),
  payment_methods: () => call("GET /payment_methods", { query: { limit: 100 } }),
  watchlist: () => all((query) => call("GET /user_interests", { query })),
  organizations: () => all((query) => call("GET /organizations", { query })),
  sessions: () => call("GET /account/sessions"),
  api_keys: () => call("GET /api_keys"),
  public_keys: () => call("GET /pubkeys"),
  wallets: () => call("GET /wallets"),
  security_log: () => all((query) => call("GET /account/security_log", { query })),
}

/** Reads everything that the service shows to the user. `tell` gets the name of each part before it is read. */
export const readEverything = async (tell: (part: string) => void): Promise<string> => {
  const found: Record<string, unknown> = { exported_at: new Date().toISOString() }
  for (const [name, read] of Object.entries(parts)) {
    tell(name.replaceAll("_", " "))
    found[name] = await read()
  }
  return JSON.stringify(found, null, 2)
}
