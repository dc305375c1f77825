import type { CurrentUser, Scope } from "../../../client/api-types.ts"
import { type Signal, signal } from "../parts/signal.ts"
import { settled } from "../proof.ts"
import * as tab from "../tab.ts"
import { Problem, serverNow } from "./http.ts"
import { send, sendWith } from "./request.ts"

/**
 * The session of the signed-in user. Each tab has its own tokens. They are stored in memory and, if the browser
 * allows it, in sessionStorage, so that they survive a reload.
 */
export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
}

const storageKey = "console-tokens"
const refreshBeforeMs = 60_000
/** The longest delay that a browser timer supports. A timer with a longer delay would fire immediately. */
const maxTimerMs = 2 ** 31 - 1
/** How long this tab waits for a reply from another tab. */
const replyTimeoutMs = 300
/** The longest pause between two attempts to resume the session. */
const maxRetryMs = 15_000

export const tokens: Signal<Tokens | undefined> = signal<Tokens | undefined>(undefined)
/** The current user as `GET /account` shows it. */
export const account: Signal<CurrentUser | undefined> = signal<CurrentUser | undefined>(undefined)

/**
 * Connects tabs that have the same tokens, such as duplicated tabs and tabs that were opened to pay. A refresh token
 * works only once, so the tabs send each other the new tokens.
 */
const otherTabs = "BroadcastChannel" in window ? new BroadcastChannel("console-tokens") : undefined
/** All refresh tokens that this tab has had in the current session. */
const knownRefreshTokens = new Set<string>()
let refreshTimer: ReturnType<typeof setTimeout> | undefined

interface Claims {
  readonly exp?: number
  readonly sid?: string
  readonly sub?: string
}

export const claimsOf = (token: string): Claims => {
  try {
    const base64 = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")
    return JSON.parse(atob(base64)) as Claims
  } catch {
    return {}
  }
}

const expiryOf = (token: string): number => (claimsOf(token).exp ?? 0) * 1000

/** The id of this tab's session. */
export const sessionId = () => tokens.value && claimsOf(tokens.value.access_token).sid

const setTokens = (next: Tokens | undefined): void => {
  clearTimeout(refreshTimer)
  if (next === undefined) {
    tab.forget(storageKey)
    knownRefreshTokens.clear()
  } else {
    knownRefreshTokens.add(next.refresh_token)
    tab.remember(storageKey, JSON.stringify(next))
    const waitMs = Math.max(1000, expiryOf(next.access_token) - serverNow() - refreshBeforeMs)
    refreshTimer = setTimeout(() => refresh().catch(() => {}), Math.min(maxTimerMs, waitMs))
  }
  tokens.set(next)
}

const adopt = (response: Tokens): void =>
  setTokens({ access_token: response.access_token, refresh_token: response.refresh_token })

otherTabs?.addEventListener("message", ({ data }) => {
  const mine = tokens.value
  if (mine === undefined) return
  if (data.requested === undefined) {
    if (mine.refresh_token === data.old) adopt(data.next)
  } else if (knownRefreshTokens.has(data.requested) && mine.refresh_token !== data.requested)
    otherTabs?.postMessage({ old: data.requested, next: mine })
})

/**
 * Asks other tabs for newer tokens, because another tab may have refreshed the tokens while this tab was closed or
 * asleep. Resolves when this tab has received new tokens, or after a short time.
 */
const askOtherTabs = (before: Tokens): Promise<void> =>
  new Promise((resolve) => {
    if (otherTabs === undefined) return resolve()
    let stop = (): void => {}
    const timer = setTimeout(() => end(), replyTimeoutMs)
    const end = () => {
      clearTimeout(timer)
      stop()
      resolve()
    }
    stop = tokens.watch((now) => {
      if (now !== before) end()
    })
    otherTabs.postMessage({ requested: before.refresh_token })
  })

const isRefused = (error: unknown): boolean => error instanceof Problem && error.status === 401

/** Removes the tokens and the account from this tab. */
export const forget = (): void => {
  setTokens(undefined)
  account.set(undefined)
}

const withLock = (task: () => Promise<void>): Promise<void> =>
  // Browsers offer locks only to secure origins.
  "locks" in navigator ? navigator.locks.request("console-refresh", task) : task()

let refreshing: Promise<void> | undefined
/** True while a call runs that ends this session and returns a new one. */
let isReplacing = false
/**
 * The idempotency key of the last refresh. If the response is lost, the retry must use the same key. Otherwise the service
 * treats the reused refresh token as stolen.
 */
let lastRefresh = { token: "", key: "" }
const keyFor = (token: string): string => {
  if (lastRefresh.token !== token) lastRefresh = { token, key: `${Date.now()}-${Math.random()}` }
  return lastRefresh.key
}

/** Stores new tokens of the same session and sends them to the other tabs. */
export const renewed = (before: Tokens, next: Tokens): void => {
  knownRefreshTokens.add(before.refresh_token)
  otherTabs?.postMessage({ old: before.refresh_token, next })
  // If the tokens of this tab changed in the meantime, for example because the user signed out, the new tokens are
  // discarded here.
  if (tokens.value === before) adopt(next)
}

/**
 * Runs a call that ends all sessions of the user and returns a new one. During the call, the end of the old session
 * does not sign out this tab.
 */
export const replaceLogin = async (task: () => Promise<Tokens | null | undefined>): Promise<void> => {
  isReplacing = true
  try {
    const next = await task()
    if (next != null) adopt(next)
  } finally {
    isReplacing = false
  }
}

/**
 * Refreshes the tokens. If the service rejects the refresh token, this tab is signed out. The returned promise
 * rejects if the refresh fails.
 */
export const refresh = (): Promise<void> => {
  refreshing ??= withLock(async () => {
    const before = tokens.value
    if (before === undefined) throw new Problem(401, { error: "Sign in first." })
    try {
      const next =
        (await settled(before.refresh_token)) ??
        (await sendWith({ idempotencyKey: keyFor(before.refresh_token) }, "POST /auth/token/refresh", {
          body: { refresh_token: before.refresh_token },
        }))
      renewed(before, next)
    } catch (error) {
      if (isRefused(error) && tokens.value === before && !isReplacing) forget()
      throw error
    }
  }).finally(() => {
    refreshing = undefined
  })
  return refreshing
}

export const loadAccount = async (): Promise<void> => {
  if (tokens.value === undefined) return
  const read = () => sendWith({ token: tokens.value?.access_token }, "GET /account")
  const found = await read().catch(async (error: unknown) => {
    // The access token has expired, for example because the local clock is slow. The session may still be valid.
    if (!isRefused(error) || tokens.value === undefined) throw error
    await refresh()
    return read()
  })
  if (tokens.value !== undefined) account.set(found)
}

/** Completes a sign-in with valid tokens. */
export const signIn = async (response: Tokens): Promise<void> => {
  adopt(response)
  await loadAccount()
}

const resumeOnce = async (): Promise<void> => {
  const stored = tab.recall(storageKey)
  if (stored === undefined) return
  try {
    const before = JSON.parse(stored) as Tokens
    tokens.set(before)
    const replied = askOtherTabs(before)
    if (expiryOf(before.access_token) - serverNow() >= refreshBeforeMs) setTokens(before)
    else {
      await replied
      if (tokens.value === before) await refresh()
    }
    await loadAccount()
  } catch (error) {
    if (error instanceof Problem && !isRefused(error)) throw error
    forget()
  }
}

let retryMs = 1000

/**
 * Resumes the session of this tab after a reload. If a request fails with a status other than 401, this function
 * schedules another attempt and throws the error. With 401, the tab is signed out.
 */
export const resume = async (): Promise<void> => {
  try {
    await resumeOnce()
  } catch (error) {
    setTimeout(() => {
      // The session is not resumed if the user signed in or out in the meantime.
      if (account.value === undefined && tokens.value !== undefined) resume().catch(() => {})
    }, retryMs)
    retryMs = Math.min(2 * retryMs, maxRetryMs)
    throw error
  }
}

/** Ends all sessions of the user. This tab is signed out first, even if the request fails. */
export const endLogin = async (): Promise<void> => {
  const before = tokens.value
  if (before === undefined) return
  forget()
  const logOut = (token: string) => sendWith({ token }, "POST /logout")
  try {
    await logOut(before.access_token)
  } catch (error) {
    if (!isRefused(error)) throw error
    // The access token has expired, for example while the computer was asleep. The session may still be valid.
    const { refresh_token } = before
    const next = await send("POST /auth/token/refresh", { body: { refresh_token } })
    await logOut(next.access_token)
  }
}

export const may = (scope: Scope): boolean => account.value?.global_scopes.includes(scope) ?? false
