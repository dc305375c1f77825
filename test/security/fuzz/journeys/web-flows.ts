import { generateSync } from "otplib"
import { Browser, redirected } from "../browser.ts"
import { bearer, password, type World } from "../world.ts"

const bitcoin = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"
const redirect_uri = "https://app.example/back"

const newClient = async (world: World) => {
  const { json } = await world.call("createOauthClient", {
    as: await world.root(),
    json: { name: "Fuzz App", redirect_uris: [redirect_uri] },
  })
  return { client_id: json.client_id as string, client_secret: json.client_secret as string }
}

/** Login on the authorization page, the code, the token, and the call that the limited token may make. */
export const oauth = async (world: World): Promise<void> => {
  const user = await world.user("owner of an id", { password })
  await world.owned(user)
  const client = await newClient(world)
  const query = {
    response_type: "code",
    client_id: client.client_id,
    redirect_uri,
    scope: "svc",
    state: "s-1",
  }
  const browser = new Browser(world)
  const page = await browser.call("authorize", { query })
  await browser.submit("authorizeForm", page, { action: "password", email: user.email, password })
  const code = redirected(await browser.call("authorize", { query })).searchParams.get("code") ?? ""
  const { json } = await world.call("oauthToken", {
    form: { grant_type: "authorization_code", code, redirect_uri, ...client },
  })
  const limited = bearer("OAuth token", json.access_token)
  world.lane.admit(limited)
  await world.call("listEmojiIDs", { as: limited })
  await world.call("oauthToken", {
    form: { grant_type: "refresh_token", refresh_token: json.refresh_token, ...client },
  })
  await world.call("listGrantedApplications", { as: user })
  await world.call("revokeGrantedApplication", { as: user, params: { client_id: client.client_id } })
}

/** The pages of a mailed link: login, first password, two-factor code, and the console's own session. */
export const magicLinks = async (world: World): Promise<void> => {
  const email = `${world.unique("link")}@example.com`
  await world.call("createUser", { json: { email } })
  const browser = new Browser(world)
  await browser.logInByMail(email)
  const done = await browser.call("magicLinkDone")
  await browser.submit("magicLinkPassword", done, { password })
  await browser.call("consoleSession")

  // Users with a password get no login link.
  const user = await world.user("user with 2FA")
  const { json } = await world.call("enable2FA", {
    as: user,
    json: { default: true, provider: "AuthenticatorApp" },
  })
  const code = generateSync({ secret: json.ga_secret, epoch: Math.floor(Date.now() / 1000) })
  await world.call("confirm2FA", { as: user, json: { code } })
  await world.call("magicLinkLogin", { json: { email: user.email } })
  const careful = new Browser(world)
  const used = redirected(await careful.logInByMail(user.email))
  const query = Object.fromEntries(used.searchParams)
  const asked = await careful.call("magicLinkCode", { query })
  await careful.submit("useMagicLinkCode", asked, { code: json.backup_codes[0] })
}

/** The three flows of a partner: get an id, connect an id, manage records. */
export const partnerFlows = async (world: World): Promise<void> => {
  const partner_path = world.unique("octo")
  await world.call("createOrganization", {
    as: await world.root(),
    json: { name: "Octo Wallet", partner_path, return_link: "https://partner.example/back" },
  })
  const params = { partner_path }
  const user = await world.user("user of a wallet")
  const sent = { refresh_token: user.refresh, addresses: `0x1003=${bitcoin}` }
  const browser = new Browser(world)
  await world.call("consoleSearch", { query: { eid: world.freshId() } })
  await browser.call("partnerCreate", { params, query: sent })
  await browser.call("partnerGet", { params, query: sent })
  const search = await browser.call("partnerGet", { params })
  await browser.submit("partnerGetForm", search, { action: "choose", emoji_id: world.freshId() }, { params })
  const cart = await browser.call("partnerGet", { params, query: { cart: "" } })
  await browser.submit("partnerGetForm", cart, { action: "free" }, { params })
  const { json } = await world.call("listOrders", { as: user })
  await browser.call("partnerPaid", { params, query: { order: json.data[0]?.id ?? "" } })

  await browser.call("partnerManage", { params, query: { refresh_token: user.refresh } })
  const manage = await browser.call("partnerManage", { params })
  const { json: owned } = await world.call("listEmojiIDs", { as: user })
  const emoji_id = String(owned[0])
  const record = { action: "add", emoji_id, tag: "0x5001", data: "a text" }
  await browser.submit("partnerManageForm", manage, record, { params })
  await browser.call("partnerConnect", { params, query: sent })
  const connect = await browser.call("partnerConnect", { params })
  await browser.submit("partnerConnectForm", connect, { action: "connect", emoji_id }, { params })
}
