import type postgres from "postgres"
import { type DatabaseServer, readDatabaseUrl } from "../../config/database-url.ts"
import {
  type Answer,
  askServers,
  choosePrimary,
  followTimeline,
  type History,
  inTime,
  isOlder,
  type OpenServer,
  reasonsOf,
} from "./primary-search.ts"

/** Running statements on the former primary get this long to finish. Then their connections are closed. */
const endSeconds = 2
const undefinedFunction = "42883"

export type Search =
  | { readonly server: DatabaseServer; readonly history: History | undefined }
  | { readonly reasons: ReadonlyArray<string> }

/**
 * The servers of one DATABASE_URL, and which of them this process uses. If the URL needs a primary, `search` finds it; all
 * clients of another server are then closed.
 */
export class FollowedDatabase {
  readonly servers: ReturnType<typeof readDatabaseUrl>["servers"]
  readonly needsPrimary: boolean
  readonly #clients = new Set<postgres.Sql>()
  readonly #listeners = new Set<() => void>()
  /** The primary that is used. Undefined before the first search has found one. */
  #found: DatabaseServer | undefined
  #history: History | undefined
  #generation = 0
  #searching: Promise<Search> | undefined

  constructor(url: string) {
    const { needsPrimary, servers } = readDatabaseUrl(url)
    this.servers = servers
    this.needsPrimary = needsPrimary
  }

  get current(): DatabaseServer {
    return this.#found ?? this.servers[0]
  }

  /** Changes whenever another server, or a newly promoted one, is used. It may lack what the former one had written. */
  get generation(): number {
    return this.#generation
  }

  /** Closes the client when another server becomes the primary. */
  track(client: postgres.Sql): postgres.Sql {
    if (!this.needsPrimary) return client
    this.#clients.add(client)
    const { end } = client
    return Object.assign(client, {
      end: (options?: { timeout?: number }) => {
        this.#clients.delete(client)
        return end(options)
      },
    })
  }

  /** Calls the function when the server has changed, before the clients of the former one are closed. */
  onMove(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Finds the primary and uses it from now on. Searches that begin during a search get its result. */
  search(open: OpenServer): Promise<Search> {
    this.#searching ??= this.#search(open).finally(() => {
      this.#searching = undefined
    })
    return this.#searching
  }

  async #search(open: OpenServer): Promise<Search> {
    const answers = await askServers(this.servers, open, (answer) => this.#canReplace(answer))
    const found = choosePrimary(answers, this.#history, this.current)
    if (found === undefined) return { reasons: reasonsOf(answers) }
    const { history, server } = found
    const isNewHistory =
      history !== undefined && (this.#history?.system !== history.system || isOlder(this.#history, history))
    if (isNewHistory) {
      const problem = await this.#noteHistory(open(server), history)
      if (problem !== undefined) return { reasons: [`${server.name}: ${problem}`] }
    }
    const isMoved = server !== this.current || (isNewHistory && this.#history !== undefined)
    this.#found = server
    this.#history = history ?? this.#history
    if (isMoved) this.#move()
    return { server, history }
  }

  /**
   * Whether the server can be used instead of the current one. While the current one answers, nothing is urgent, and a
   * newer primary may need longer than the grace to answer. At startup, any of the servers may be the newest primary.
   */
  #canReplace(answer: Answer): boolean {
    const former = this.#found
    if (former === undefined || answer.server === former) return false
    return choosePrimary([answer], this.#history, former) !== undefined
  }

  /**
   * Renews the epoch of live channels after a promotion, before this process writes. Returns the reason if that failed.
   */
  async #noteHistory(sql: postgres.Sql, history: History): Promise<string | undefined> {
    try {
      await inTime(followTimeline(sql, history))
      return undefined
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      // The function does not exist before the first migration.
      return code === undefinedFunction ? undefined : message
    } finally {
      sql.end({ timeout: 0 }).catch(() => {})
    }
  }

  #move(): void {
    this.#generation++
    const former = [...this.#clients]
    for (const listener of this.#listeners) listener()
    for (const client of former) client.end({ timeout: endSeconds }).catch(() => {})
  }
}

const known = new Map<string, FollowedDatabase>()

/** Returns the same object for the same URL, so that all clients of a process use the same server. */
export const followedDatabase = (url: string): FollowedDatabase => {
  const found = known.get(url) ?? new FollowedDatabase(url)
  known.set(url, found)
  return found
}
