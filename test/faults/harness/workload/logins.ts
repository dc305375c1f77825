import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { generateSync } from "otplib"
import type { Answer, Request } from "./api.ts"
import {
  claimsOf,
  type Device,
  findMail,
  linkToken,
  password,
  perform,
  type User,
  type World,
} from "./world.ts"

/** How soon every process must refuse the access token of an ended login. */
const endedWithinMs = 1000
const refused = [401, 403]
const stepMs = 30_000

const deviceOf = ({ body }: Pick<Answer, "body">): Device => ({
  access: body.access_token,
  refresh: body.refresh_token,
})

/** Logs in on another device. A user with two-factor login also sends a code. */
export const login = async (world: World, user: User): Promise<Device | undefined> => {
  const answer = await perform(world, user, {
    name: "login",
    method: "POST",
    path: "/auth/token",
    body: { email: user.email, password },
  })
  if (answer.outcome === "failed") return undefined
  if (user.totp === undefined) return deviceOf(answer)
  // A code works once. If another device has used the code of this time step, the next code is needed.
  const verified = await perform(world, user, {
    name: "sendTwoFactorCode",
    method: "POST",
    path: "/auth/2fa",
    body: { refresh_token: answer.body.refresh_token, code: generateSync({ secret: user.totp }) },
    mayAnswer: [401, 422],
  })
  if (verified.outcome === "ok") return deviceOf(verified)
  await sleep(stepMs / 10)
  return undefined
}

/** Renews the tokens of the user's first device. */
export const refresh = async (world: World, user: User): Promise<void> => {
  const before = user.device
  const answer = await perform(world, user, {
    name: "refresh",
    method: "POST",
    path: "/auth/token/refresh",
    body: { refresh_token: before.refresh },
  })
  if (answer.outcome === "ok") user.device = deviceOf(answer)
  else user.device = (await login(world, user)) ?? user.device
}

/** Logs in on a second device, uses it, and ends that login. Then no process may accept its token. */
export const useSecondDevice = async (world: World, user: User): Promise<void> => {
  const device = await login(world, user)
  if (device === undefined) return
  const token = () => device.access
  await perform(world, user, { name: "account", method: "GET", path: "/account", token })
  const { sid } = claimsOf(device.access)
  const path = `/account/sessions/${sid}`
  await end(world, user, device, {
    name: "endSession",
    method: "DELETE",
    path,
    token: () => user.device.access,
  })
}

/** Logs out, which ends all logins of the user, and logs in again. */
export const logout = async (world: World, user: User): Promise<void> => {
  if (!user.logsOut) return
  const { device } = user
  await end(world, user, device, {
    name: "logout",
    method: "POST",
    path: "/logout",
    token: () => device.access,
  })
  for (let again: Device | undefined; again === undefined && !world.isOver(); ) {
    again = await login(world, user)
    user.device = again ?? user.device
  }
}

const end = async (world: World, user: User, device: Device, request: Request) => {
  const answer = await perform(world, user, request)
  if (answer.outcome === "failed") return
  const what = `${request.name} of ${user.name} was acknowledged`
  world.unchecked.ended.push({ token: device.access, what })
  await sleep(endedWithinMs)
  await checkRefused(world, () => device.access, what)
}

/** Invariant 10: every process that answers must refuse the token. */
export const checkRefused = async ({ api }: Pick<World, "api">, token: () => string, what: string) => {
  const request: Request = { name: "account", method: "GET", path: "/account", token }
  await Promise.all(
    api.members.map(async (member) => {
      const answer = await api.once(member, request).catch(() => undefined)
      if (answer === undefined || answer.status >= 500) return
      api.violations.check(
        10,
        refused.includes(answer.status),
        () => `${what}, and a second later ${member.name} answered ${answer.status} to its access token`,
      )
    }),
  )
}

/** Registers a new user, and uses the mailed link at two processes at the same time. One of them must refuse it. */
export const register = async (world: World, user: User): Promise<void> => {
  const email = `${randomUUID()}@faults.example`
  const made = await perform(world, user, {
    name: "register",
    method: "POST",
    path: "/users",
    body: { email },
  })
  if (made.outcome === "failed") return
  world.unchecked.add({
    invariant: 6,
    what: `the registration of ${email} was acknowledged`,
    query: "select count(*) as found from app_user where email = $1",
    values: [email],
    expected: 1,
  })
  const mail = await findMail(world, email, ({ link }) => link?.includes("refresh_token=") === true)
  const token = linkToken(mail)
  if (token === "") return
  const consume = () =>
    perform(world, user, {
      name: "consumeLink",
      method: "POST",
      path: "/auth/magic_link/consume",
      body: { token },
      // Each request comes from another browser.
      headers: { cookie: `browser=${randomUUID()}` },
      mayAnswer: [401],
    })
  const outcomes = await Promise.allSettled([consume(), consume()])
  const worked = outcomes.filter((one) => one.status === "fulfilled" && one.value.outcome === "ok").length
  const isKnown = outcomes.every(({ status }) => status === "fulfilled")
  world.api.violations.check(
    9,
    worked === 1 || (worked === 0 && !isKnown),
    () => `the login link of ${email} worked ${worked} times`,
  )
}
