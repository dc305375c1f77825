import { generateSync } from "otplib"
import { seeded } from "../../../fixtures/walk.ts"
import { admin } from "../fleet/fleet.ts"
import { Unchecked } from "../oracle/unchecked.ts"
import { VersionWatch } from "../oracle/version-watch.ts"
import type { Api, Request } from "./api.ts"
import { claimsOf, findMail, freshId, linkToken, password, type User, type World } from "./world.ts"

const twoFactorEvery = 6
const leaverEvery = 4
const contestedIds = 6
const codeUses = 15

/** Creates the users, their ids and the codes, before the first fault. */
export const makeWorld = async (
  api: Api,
  seed: number,
  count: number,
  isOver: () => boolean,
): Promise<World> => {
  const luck = seeded(seed)
  const must = async (request: Request) => {
    const answer = await api.perform("set up", luck, request)
    if (answer.outcome === "failed") throw new Error(`${request.path}: ${answer.status} ${answer.text}`)
    return answer.body
  }
  const loginOfRoot = () =>
    must({ name: "login", method: "POST", path: "/auth/token", body: admin }).then(
      (body) => body.access_token,
    )
  let rootToken: string = await loginOfRoot()
  const rootRenewal = setInterval(() => {
    loginOfRoot().then(
      (token) => {
        rootToken = token
      },
      () => {},
    )
  }, 300_000)
  rootRenewal.unref()
  const token = () => rootToken
  const post = (path: string, body: unknown, as?: () => string) =>
    must({ name: "setUp", method: "POST", path, body, ...(as === undefined ? {} : { token: as }) })

  const versions = new VersionWatch(api)
  const makeUser = async (place: number, edited: string, traded: string): Promise<User> => {
    const name = `user-${place}`
    const email = `${name}-${seed}@faults.example`
    const made = await post("/users", { email, password })
    const mail = await findMail(
      { api, isOver: () => false },
      email,
      ({ link }) => link?.includes("refresh_token=") === true,
    )
    const confirmed = await post(
      "/auth/magic_link/consume",
      { token: linkToken(mail) },
      () => made.access_token,
    )
    const { sub: id } = claimsOf(confirmed.access_token)
    const as = () => confirmed.access_token as string
    for (const emoji_id of [edited, traded]) await post("/emoji_id", { emoji_id, user_id: id }, token)
    versions.watch(edited)
    const secret = place % twoFactorEvery === twoFactorEvery - 1 ? await enableTotp(as) : undefined
    return {
      name,
      email,
      id,
      luck: seeded(seed * 1000 + place),
      device: { access: confirmed.access_token, refresh: confirmed.refresh_token },
      edited: { id: edited, value: 0, hash: undefined },
      ids: [traded],
      logsOut: place % leaverEvery === 0,
      ...(secret === undefined ? {} : { totp: secret }),
    }
  }
  const enableTotp = async (as: () => string): Promise<string> => {
    const { ga_secret: secret } = await post(
      "/account/2fa/enable",
      { default: true, provider: "AuthenticatorApp" },
      as,
    )
    for (;;) {
      // The code of the previous time step leaves the current one unused. If a time step ends before the code arrives,
      // the code is too old, and the answer is 422.
      const epoch = Math.floor(Date.now() / 1000) - 30
      const { outcome } = await api.perform("set up", luck, {
        name: "setUp",
        method: "POST",
        path: "/account/2fa/confirm",
        body: { code: generateSync({ secret, epoch }) },
        token: as,
        mayAnswer: [422],
      })
      if (outcome === "ok") return secret
    }
  }

  const users = await Promise.all(
    Array.from({ length: count }, (_, place) => makeUser(place, freshId(seed), freshId(seed))),
  )
  const codes = ["FAULTS-A", "FAULTS-B"]
  for (const redemption_code of codes)
    await post(
      "/codes",
      {
        name: redemption_code,
        code_type: "Discount",
        discount_as_percentage: 50,
        redemption_code,
        max_uses: codeUses,
      },
      token,
    )
  return {
    api,
    seed,
    users,
    root: { name: "root", luck, token },
    contested: Array.from({ length: contestedIds }, () => freshId(seed)),
    codes,
    versions,
    unchecked: new Unchecked(),
    isOver,
  }
}
