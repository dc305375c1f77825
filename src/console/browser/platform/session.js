import { signal } from "../parts/signal.js"
import { settled } from "../proof.js"
import * as tab from "../tab.js"
import { Problem, request, serverNow } from "./http.js"

/**
 * Who is signed in. Tokens live in this tab only: in memory, and where a reload keeps them if the browser lets it.
 * @typedef {{access_token: string, refresh_token: string}} Tokens
 */

const storageKey = "console-tokens"
const refreshBeforeMs = 60_000
/** A timer set for longer goes off at once. */
const longestTimerMs = 2 ** 31 - 1
/** Long enough for another tab to answer. */
const siblingWaitMs = 300
/** Between two looks whether the service answers again. */
const longestPauseMs = 15_000

/** @type {import("../parts/signal.js").Signal<Tokens | undefined>} */
export const tokens = signal(undefined)
/** The current user as `GET /account` shows it. */
export const account = signal(undefined)

/**
 * Other tabs made by duplicating this one, or opened by it to pay, hold the same tokens, and each token refreshes once.
 */
const siblings = "BroadcastChannel" in window ? new BroadcastChannel("console-tokens") : undefined
/** The refresh tokens this tab has had of its login. @type {Set<string>} */
const had = new Set()
let refreshTimer = 0

/** @param {string} token @returns {{exp?: number, sid?: string}} */
const claimsOf = (token) => {
  try {
    const base64 = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")
    return JSON.parse(atob(base64))
  } catch {
    return {}
  }
}

/** @param {string} token */
const expiryOf = (token) => (claimsOf(token).exp ?? 0) * 1000

/** Which of the user's logins this tab has. */
export const sessionId = () => tokens.value && claimsOf(tokens.value.access_token).sid

/** @param {Tokens | undefined} next */
const keep = (next) => {
  clearTimeout(refreshTimer)
  if (next === undefined) {
    tab.forget(storageKey)
    had.clear()
  } else {
    had.add(next.refresh_token)
    tab.remember(storageKey, JSON.stringify(next))
    const waitMs = Math.max(1000, expiryOf(next.access_token) - serverNow() - refreshBeforeMs)
    refreshTimer = setTimeout(() => refresh().catch(() => {}), Math.min(longestTimerMs, waitMs))
  }
  tokens.set(next)
}

/** @param {Tokens} response */
const adopt = (response) =>
  keep({ access_token: response.access_token, refresh_token: response.refresh_token })

siblings?.addEventListener("message", ({ data }) => {
  const mine = tokens.value
  if (mine === undefined) return
  if (data.asked === undefined) {
    if (mine.refresh_token === data.old) adopt(data.next)
  } else if (had.has(data.asked) && mine.refresh_token !== data.asked)
    siblings?.postMessage({ old: data.asked, next: mine })
})

/** A tab that was away does not know what others have made of its login meanwhile. @param {Tokens} before */
const askSiblings = (before) =>
  new Promise((resolve) => {
    if (siblings === undefined) return resolve(undefined)
    let stop = () => {}
    const timer = setTimeout(() => end(), siblingWaitMs)
    const end = () => {
      clearTimeout(timer)
      stop()
      resolve(undefined)
    }
    stop = tokens.watch((now) => now !== before && end())
    siblings.postMessage({ asked: before.refresh_token })
  })

/** @param {unknown} error */
const isRefused = (error) => error instanceof Problem && error.status === 401

/** What this tab knows of the login is over. */
export const forget = () => {
  keep(undefined)
  account.set(undefined)
}

/** @template T @param {() => Promise<T>} task */
const alone = (task) =>
  navigator.locks === undefined ? task() : navigator.locks.request("console-refresh", task)

let refreshing
/** Whether a call is under way that ends this login and answers another in its place. */
let isReplacing = false
/** Sent again after a lost answer, a token without its key would count as stolen. @type {{token: string, key: string}} */
let asked = { token: "", key: "" }
/** @param {string} token */
const keyFor = (token) => {
  if (asked.token !== token) asked = { token, key: `${Date.now()}-${Math.random()}` }
  return asked.key
}

/** New tokens of the same login have come, for all tabs that have it. @param {Tokens} before @param {Tokens} next */
export const renewed = (before, next) => {
  had.add(before.refresh_token)
  siblings?.postMessage({ old: before.refresh_token, next })
  // Whoever has signed out meanwhile stays so.
  if (tokens.value === before) adopt(next)
}

/**
 * Makes a call that ends every login of the user and answers a new one: the old one's end is no news here.
 * @param {() => Promise<Tokens | undefined>} task
 */
export const replaceLogin = async (task) => {
  isReplacing = true
  try {
    const next = await task()
    if (next !== undefined) adopt(next)
  } finally {
    isReplacing = false
  }
}

/** New tokens for the old ones. Fails, and forgets the login, when the service does not know it any more. */
export const refresh = () => {
  refreshing ??= alone(async () => {
    const before = tokens.value
    if (before === undefined) throw new Problem(401, { error: "Sign in first." })
    try {
      const next =
        (await settled(before.refresh_token)) ??
        (await request("POST", "/auth/token/refresh", {
          body: { refresh_token: before.refresh_token },
          idempotencyKey: keyFor(before.refresh_token),
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

export const loadAccount = async () => {
  if (tokens.value === undefined) return
  const read = () => request("GET", "/account", { token: tokens.value?.access_token })
  const found = await read().catch(async (error) => {
    // The token has ended unnoticed, as where our clock is slow; the login has not.
    if (!isRefused(error) || tokens.value === undefined) throw error
    await refresh()
    return read()
  })
  if (tokens.value !== undefined) account.set(found)
}

/** A login is complete: its tokens open things. @param {Tokens} response */
export const signIn = async (response) => {
  adopt(response)
  await loadAccount()
}

const resumeOnce = async () => {
  const kept = tab.recall(storageKey)
  if (kept === undefined) return
  try {
    const before = JSON.parse(kept)
    tokens.set(before)
    const asked = askSiblings(before)
    if (expiryOf(before.access_token) - serverNow() >= refreshBeforeMs) keep(before)
    else {
      await asked
      if (tokens.value === before) await refresh()
    }
    await loadAccount()
  } catch (error) {
    if (error instanceof Problem && !isRefused(error)) throw error
    forget()
  }
}

let pauseMs = 1000

/** Goes on with the login this tab had before it was loaded anew, or fails and does so once the service answers. */
export const resume = async () => {
  try {
    await resumeOnce()
  } catch (error) {
    setTimeout(() => {
      // Whoever has signed in or out meanwhile has decided otherwise.
      if (account.value === undefined && tokens.value !== undefined) resume().catch(() => {})
    }, pauseMs)
    pauseMs = Math.min(2 * pauseMs, longestPauseMs)
    throw error
  }
}

/** Ends the login everywhere. This tab forgets it first, whatever becomes of the rest. */
export const endLogin = async () => {
  const before = tokens.value
  if (before === undefined) return
  forget()
  const logOut = (token) => request("POST", "/logout", { token })
  try {
    await logOut(before.access_token)
  } catch (error) {
    if (!isRefused(error)) throw error
    // The access token has ended, as it does while a computer sleeps; the login has not.
    const { refresh_token } = before
    const next = await request("POST", "/auth/token/refresh", { body: { refresh_token } })
    await logOut(next.access_token)
  }
}

/** @param {string} scope */
export const may = (scope) => account.value?.global_scopes.includes(scope) ?? false
