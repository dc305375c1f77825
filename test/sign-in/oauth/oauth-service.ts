import { serveDirectory } from "../../directory/directory-service.ts"
import { freshId } from "../../orders/shopper.ts"
import {
  authorizeAddress,
  locationOf,
  logInByMail,
  makeVisitor,
  registerApplication,
  tokenCall,
} from "./application.ts"

/** Starts a service with an OAuth client. Returns it with helpers that create users and codes. */
export const startOauthService = async () => {
  const service = await serveDirectory()
  const app = await registerApplication(service, "https://app.example/callback?tenant=7")
  /** Creates a user with a confirmed email and `count` ids. */
  const owner = async (count: number) => {
    const user = await service.user()
    const owned: Array<string> = []
    for (let i = 0; i < count; i++) {
      const id = freshId()
      await service.register(id, user)
      owned.push(id)
    }
    return { ...user, ids: owned }
  }

  const loggedIn = async (user: { email: string }) => {
    const visitor = makeVisitor(service)
    await logInByMail(service, visitor, authorizeAddress(app), user.email)
    return visitor
  }

  const codeFor = async (more: Record<string, string> = {}) => {
    const user = await owner(1)
    const visitor = await loggedIn(user)
    const answer = await visitor.get(authorizeAddress(app, more))
    return { user, visitor, code: locationOf(answer).searchParams.get("code") ?? "" }
  }

  const credentials = { client_id: app.clientId, client_secret: app.secret }
  const exchange = (code: string, more: Record<string, string> = {}) =>
    tokenCall(service, {
      grant_type: "authorization_code",
      code,
      redirect_uri: app.redirectUri,
      ...credentials,
      ...more,
    })

  return { service, app, owner, loggedIn, codeFor, credentials, exchange }
}
