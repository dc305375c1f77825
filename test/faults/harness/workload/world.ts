import { setTimeout as sleep } from "node:timers/promises"
import { emojis } from "../../../../schema/directory/emoji.ts"
import { type Luck, seeded } from "../../../fixtures/walk.ts"
import type { Unchecked } from "../oracle/unchecked.ts"
import type { VersionWatch } from "../oracle/version-watch.ts"
import type { Api, Body, Request, Result } from "./api.ts"

export const password = "correct horse battery staple"
const mailPatienceMs = 30_000
const mailPollMs = 100

/** A login on one device. */
export interface Device {
  access: string
  refresh: string
}

/** A simulated user, and what the user knows about its own things. */
export interface User {
  readonly name: string
  readonly email: string
  readonly id: string
  /** The choices of the current step. */
  luck: Luck
  device: Device
  /** The id whose record the user edits, and the number and hash of its newest value. */
  readonly edited: { readonly id: string; value: number; hash: string | undefined }
  /** Ids that the user can transfer. */
  readonly ids: Array<string>
  /** Whether the user sometimes logs out everywhere. Such a user receives no transfers, which need a login. */
  readonly logsOut: boolean
  /** The secret of the authenticator app. */
  readonly totp?: string
}

/** Everything that the steps of the workload share. */
export interface World {
  readonly api: Api
  readonly seed: number
  readonly users: Array<User>
  readonly root: Pick<User, "name" | "luck"> & { readonly token: () => string }
  /** Ids that several users want at the same time. */
  readonly contested: ReadonlyArray<string>
  /** Redemption codes with few uses. */
  readonly codes: ReadonlyArray<string>
  readonly versions: VersionWatch
  readonly unchecked: Unchecked
  /** Ends the steps of the users. */
  readonly isOver: () => boolean
}

let used = 0
/** An id of five emoji that no other part of the run uses. */
export const freshId = (seed: number): string => {
  const luck = seeded(seed * 1_000_003 + ++used)
  return Array.from({ length: 5 }, () => luck.pick(emojis)!.canonical).join("")
}

export const perform = (
  { api }: World,
  user: Pick<User, "luck" | "name">,
  request: Request,
): Promise<Result> => api.perform(user.name, user.luck, request)

/** Performs an operation of the user that must succeed. Undefined if it was refused, which the oracle has reported. */
export const succeed = async (
  world: World,
  user: User,
  request: Omit<Request, "token">,
): Promise<Body | undefined> => {
  const answer = await perform(world, user, { ...request, token: () => user.device.access })
  return answer.outcome === "ok" ? answer.body : undefined
}

interface Mail {
  readonly kind: string
  readonly text: string
  readonly at: string
  readonly code?: string
  readonly link?: string
}

/** Waits for a mail in the outbox, which every process can read. */
export const findMail = async (
  { api, isOver }: Pick<World, "api" | "isOver">,
  to: string,
  fits: (mail: Mail) => boolean,
): Promise<Mail | undefined> => {
  for (const until = Date.now() + mailPatienceMs; Date.now() < until && !isOver(); await sleep(mailPollMs)) {
    for (const member of api.members) {
      const path = `/dev/outbox?to=${encodeURIComponent(to)}`
      const answer = await api.once(member, { name: "outbox", method: "GET", path }).catch(() => undefined)
      if (answer?.status !== 200) continue
      const found = (answer.body as ReadonlyArray<Mail>).find(fits)
      if (found !== undefined) return found
      break
    }
  }
  return undefined
}

export const linkToken = (mail: Mail | undefined, name = "refresh_token"): string =>
  new URL(mail?.link ?? "about:blank").searchParams.get(name) ?? ""

export const claimsOf = (jwt: string): { readonly sub: string; readonly sid: string } =>
  JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString())
