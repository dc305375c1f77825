import { callListener } from "./event-listener.ts"
import type { Tokens } from "./shared-refresh.ts"

/** Where an application keeps the tokens of a login. The methods may return promises. */
export interface TokenStorage {
  /** Returns the stored tokens, or undefined if there is no login. */
  readonly load: () => Tokens | undefined | Promise<Tokens | undefined>
  /** Stores new tokens, or deletes the stored ones if `tokens` is undefined. */
  readonly save: (tokens: Tokens | undefined) => void | Promise<void>
}

/** The part of `localStorage` and `sessionStorage` that is used. */
interface KeyValueStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

const isTokens = (value: unknown): value is Tokens =>
  typeof value === "object" && value !== null && "accessToken" in value && "refreshToken" in value

/** Keeps tokens in `localStorage` or `sessionStorage`, so that a login survives a reload of the page. */
export const browserStorage = (storage: KeyValueStorage, name = "emoji-id-tokens"): TokenStorage => ({
  load: () => {
    try {
      const tokens: unknown = JSON.parse(storage.getItem(name) ?? "null")
      return isTokens(tokens) ? tokens : undefined
    } catch {
      // Another program has changed the value, or the browser forbids the use of the storage.
      return undefined
    }
  },
  save: (tokens) => {
    if (tokens === undefined) storage.removeItem(name)
    else storage.setItem(name, JSON.stringify(tokens))
  },
})

/** Changes the storage one step after the other, because an older save that ends late must not replace newer tokens. */
export const inOrder = ({ load, save }: TokenStorage) => {
  let last: Promise<void> = Promise.resolve()
  const next = (step: () => void | Promise<void>): void => {
    last = last.then(step).catch((error: unknown) =>
      callListener(() => {
        throw error
      }),
    )
  }
  return {
    save: (tokens: Tokens | undefined): void => next(() => save(tokens)),
    /** Deletes the tokens of a login that has ended. Another tab may have stored a newer login, which is kept. */
    deleteEnded: (refreshToken: string): void =>
      next(async () => {
        if ((await load())?.refreshToken === refreshToken) await save(undefined)
      }),
  }
}
