import { generateSync } from "otplib"
import { Browser } from "../browser.ts"
import { bearer, type Person, password, type World } from "../world.ts"

const code = (secret: string, steps: number) =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + steps * 30 })

/** Registration, login, token refresh, own account, and logout. */
export const login = async (world: World): Promise<void> => {
  const email = `${world.unique("login")}@example.com`
  const { json: registered } = await world.call("createUser", {
    json: { email, password, first_name: "Ann", source: "fuzz" },
  })
  const as = bearer("user", registered.access_token)
  const token = (await world.link(email)).searchParams.get("refresh_token") ?? ""
  await world.call("consumeMagicLink", { as, json: { token, password } })
  const { json: tokens } = await world.call("login", { json: { email, password } })
  const { json: renewed } = await world.call("refreshToken", {
    json: { refresh_token: tokens.refresh_token },
  })
  const user = world.person("user", email, renewed)
  await world.call("magicLinkLogin", { json: { email, redirect: "/" } })
  await world.call("getAccount", { as: user })
  await world.call("load", { as: user })
  await world.call("updateAccount", { as: user, json: { first_name: "Bea", last_name: "Doe" } })
  await world.call("readFeatures", { as: user })
  await world.call("showUser", { as: user, params: { id: user.id } })
  await world.call("getSecurityLog", { as: user })
  await world.call("login", { json: { email, password } })
  const { json: sessions } = await world.call("listSessions", { as: user })
  const other = sessions.find(({ current }: { current: boolean }) => !current)
  await world.call("endSession", { as: user, params: { session_id: other?.id ?? "" } })
  await world.call("logout", { as: user })
}

/** A password reset by the API and on the pages. */
export const passwordReset = async (world: World): Promise<void> => {
  const user = await world.user("user", { password })
  const tokenOf = async () => (await world.link(user.email)).searchParams.get("token") ?? ""
  await world.call("requestPasswordReset", { json: { email: user.email } })
  const { json: tokens } = await world.call("confirmPasswordReset", {
    json: { token: await tokenOf(), password },
  })
  world.person("user", user.email, tokens)
  const browser = new Browser(world)
  await browser.submit("usePasswordReset", await browser.call("passwordReset"), { email: user.email })
  const query = { token: await tokenOf() }
  await browser.submit("usePasswordReset", await browser.call("passwordReset", { query }), { password })
  await browser.call("passwordResetDone")
}

const enableApp = async (world: World, user: Person, operation: string) => {
  const { json } = await world.call(operation, {
    as: user,
    json: { default: true, provider: "AuthenticatorApp" },
  })
  // The code of the previous step stays unused for the login that follows.
  const confirmed = await world.attempt("confirm2FA", { as: user, json: { code: code(json.ga_secret, -1) } })
  if (confirmed.status !== 200)
    await world.call("confirm2FA", { as: user, json: { code: code(json.ga_secret, 0) } })
  return { secret: json.ga_secret as string, backup: json.backup_codes as ReadonlyArray<string> }
}

/** Two-factor authentication by app and by SMS, with login, backup code and removal by an administrator. */
export const twoFactor = async (world: World): Promise<void> => {
  const user = await world.user("user with 2FA", { password })
  const { backup, secret } = await enableApp(world, user, "enable2FA")
  const { json: pending } = await world.call("login", { json: { email: user.email, password } })
  world.lane.admit(bearer("login before its code", pending.access_token))
  const sent = { refresh_token: pending.refresh_token }
  const first = await world.attempt("twoFactorAuthentication", { json: { ...sent, code: code(secret, 0) } })
  const verified =
    first.status === 200
      ? first
      : await world.call("twoFactorAuthentication", { json: { ...sent, code: backup[1] } })
  const proven = world.person("user with 2FA", user.email, verified.json)
  await world.call("disable2FA", { as: proven, json: { disable_all: true } })

  const other = await world.user("user with 2FA", { password })
  const codes = await enableApp(world, other, "enable2FAShort")
  await world.call("backupDisable2FA", {
    json: { email: other.email, backup_code: codes.backup[0], disable_all: true },
  })
  const texted = await world.user("user with 2FA")
  const phone = `+1555${String(world.lane.luck.below(1e7)).padStart(7, "0")}`
  await world.call("enable2FA", { as: texted, json: { default: true, provider: "SMS", phone } })
  await world.call("confirm2FA", { as: texted, json: { code: await world.code(phone) } })
  await world.call("send2FASms", { as: texted })
  await world.call("destroyTwoFactor", { as: await world.root(), params: { id: texted.id } })
}

/** What administrators do with users and features. */
export const administration = async (world: World): Promise<void> => {
  const admin = await world.admin()
  const user = await world.user()
  await world.call("listEvents", { as: admin, query: { limit: "20" } })
  await world.call("getAllUsers", { as: admin, query: { limit: "10", search: "fuzz" } })
  await world.call("updateUserByAdmin", { as: admin, params: { id: user.id }, json: { free_limit: 3 } })
  const { json: feature } = await world.call("createFeature", {
    as: admin,
    json: { code: world.unique("feature") },
  })
  const params = { user_id: user.id, feature_id: feature.id }
  await world.call("listFeatures", { as: admin })
  await world.call("assignFeature", { as: admin, params })
  await world.call("readFeaturesOfUser", { as: user, params: { user_id: user.id } })
  await world.call("unassignFeature", { as: admin, params })
  await world.call("deleteFeature", { as: admin, params: { id: feature.id } })
  const { json: prices } = await world.call("readPriceParameters", { as: admin })
  await world.call("writePriceParameters", { as: admin, json: prices })
  await world.call("getSecurityLogOfUser", { as: admin, params: { id: user.id } })
  await world.call("deleteUser", { as: user, params: { id: user.id } })
}

/** API keys with all scopes of their owner and without scopes. */
export const apiKeys = async (world: World): Promise<void> => {
  const user = await world.user()
  const { json: all } = await world.call("createApiKey", { as: user, json: { name: "all scopes" } })
  const { json: none } = await world.call("createApiKey", {
    as: user,
    json: { name: "no scopes", scopes: [] },
  })
  const { json: gone } = await world.call("createApiKey", { as: user, json: { name: "deleted" } })
  world.lane.admit({ name: "API key", headers: { "x-api-key": all.api_key } })
  world.lane.admit({ name: "API key without scopes", headers: { "x-api-key": none.api_key } })
  await world.call("listApiKeys", { as: user })
  await world.call("deleteApiKey", { as: user, params: { id: gone.id } })
  world.lane.admit({ name: "deleted API key", headers: { "x-api-key": gone.api_key } })
  await world.call("callProxy", { as: user, json: { service: "Echo", data: '{"a":1}' } })
}
