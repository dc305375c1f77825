import type { CurrentUser, Scope, TokenResponse } from "../../../client/api-types.ts"
import { createClient } from "../../../client/create-client.ts"
import type { LiveStatus } from "../../../client/live/options.ts"
import type { Tokens } from "../../../client/shared-refresh.ts"
import type { TokenStorage } from "../../../client/token-storage.ts"
import { type Signal, signal } from "../parts/signal.ts"
import * as tab from "../tab.ts"
import { serverNow } from "./http.ts"
import { clientOptions } from "./request.ts"

/** The session of the signed-in user. Each tab has its own tokens, which survive a reload. */

const storageKey = "console-tokens"
const renewBeforeMs = 60_000
/** The longest delay that a browser timer supports. A timer with a longer delay would fire immediately. */
const maxTimerMs = 2 ** 31 - 1
/** The longest pause between two attempts to resume the session. */
const maxRetryMs = 15_000

const tabStorage: TokenStorage = {
  load: () => {
    try {
      const { access_token, refresh_token } = JSON.parse(tab.recall(storageKey) ?? "") as TokenResponse
      return { accessToken: access_token, refreshToken: refresh_token }
    } catch {
      return undefined
    }
  },
  save: (next) => {
    if (next === undefined) tab.forget(storageKey)
    else
      tab.remember(
        storageKey,
        JSON.stringify({ access_token: next.accessToken, refresh_token: next.refreshToken }),
      )
  },
}

/** The current user as `GET /account` shows it. */
export const account: Signal<CurrentUser | undefined> = signal<CurrentUser | undefined>(undefined)
export const liveStatus: Signal<LiveStatus> = signal<LiveStatus>("idle")

let tokens: Tokens | undefined
let renewal: ReturnType<typeof setTimeout> | undefined

interface Claims {
  readonly exp?: number
  readonly sid?: string
}

const claims = (): Claims => {
  try {
    const base64 = (tokens?.accessToken.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")
    return JSON.parse(atob(base64)) as Claims
  } catch {
    return {}
  }
}

/** The id of this tab's session. */
export const sessionId = (): string | undefined => claims().sid

/** Keeps the tokens, and schedules their renewal by the clock of the service. */
const noteTokens = (next: Tokens | undefined): void => {
  tokens = next
  clearTimeout(renewal)
  if (next === undefined) {
    account.set(undefined)
    return
  }
  const waitMs = Math.max(1000, (claims().exp ?? 0) * 1000 - serverNow() - renewBeforeMs)
  renewal = setTimeout(() => client.renew().catch(() => {}), Math.min(maxTimerMs, waitMs))
}

export const client = createClient({
  ...clientOptions,
  storage: tabStorage,
  onTokens: noteTokens,
  onLiveStatus: (status) => liveStatus.set(status),
})

export const loadAccount = async (): Promise<void> => {
  if (tokens === undefined) return
  const found = await client.call("GET /account")
  if (tokens !== undefined) account.set(found)
}

/** Completes a sign-in with valid tokens. */
export const signIn = async (response: TokenResponse): Promise<void> => {
  client.useLogin(response)
  await loadAccount()
}

let retryMs = 1000

/**
 * Resumes the session of this tab after a reload. If this fails, another attempt is scheduled and the error is thrown,
 * unless the session has ended.
 */
export const resume = async (): Promise<void> => {
  if (tokens === undefined) noteTokens(await tabStorage.load())
  try {
    await loadAccount()
  } catch (error) {
    if (tokens === undefined) return
    setTimeout(() => {
      // The session is not resumed if the user signed in or out in the meantime.
      if (account.value === undefined && tokens !== undefined) resume().catch(() => {})
    }, retryMs)
    retryMs = Math.min(2 * retryMs, maxRetryMs)
    throw error
  }
}

let isLeaving = false
/** Whether the user is signing out. If the session ends for another reason, a notice is shown. */
export const isSigningOut = (): boolean => isLeaving

const leave = async (logOut: () => Promise<void>): Promise<void> => {
  isLeaving = true
  try {
    await logOut()
  } finally {
    isLeaving = false
  }
}

/** Ends the session of this tab. The tab is signed out first, even if the request fails. */
export const signOutHere = (): Promise<void> => leave(client.logOutHere)
/** Ends all sessions of the user. This tab is signed out first, even if the request fails. */
export const signOutEverywhere = (): Promise<void> => leave(client.logOut)

export const may = (scope: Scope): boolean => account.value?.global_scopes.includes(scope) ?? false
