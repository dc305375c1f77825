import { actionButton } from "../parts/actions.ts"
import { byId, emojiText, h } from "../parts/dom.ts"
import { notify } from "../parts/notices.ts"
import { humanProof } from "../platform/recaptcha.ts"
import { send } from "../platform/request.ts"
import { account, signIn } from "../platform/session.ts"

interface Login {
  readonly name: string
  readonly email: string
  readonly password: string
}

interface Demo {
  readonly ids: ReadonlyArray<string>
  readonly login?: Login
}

/** The demo data of the service. Production has none. */
const demo = (): Demo => JSON.parse(byId("view").dataset["demo"] ?? '{"ids":[]}') as Demo

const signInAs = async ({ email, name, password }: Login): Promise<void> => {
  const response = await send("POST /auth/token", {
    body: { email, password, ...(await humanProof("login")) },
  })
  if (response.requires_2fa === undefined) {
    await signIn(response)
    location.hash = "#/ids"
    return
  }
  notify(`${name} uses two-factor authentication. Sign in with the password and a code.`, "warn")
  location.hash = "#/sign-in"
}

const examples = (ids: ReadonlyArray<string>) =>
  h(
    "section",
    { class: "try", "aria-labelledby": "try-heading" },
    h("h2", { id: "try-heading", class: "small soft" }, "Try one of these"),
    h(
      "ul",
      { class: "story" },
      ids.map((id) =>
        h("li", {}, h("a", { class: "story-id", href: `#/lookup/${encodeURIComponent(id)}` }, emojiText(id))),
      ),
    ),
  )

const demoLogin = (login: Login) =>
  h(
    "section",
    { class: "card spread demo-login", "aria-label": "Demo user" },
    h(
      "p",
      {},
      `${login.name} is a demo user of this development server. She owns ids that you can change and transfer.`,
    ),
    actionButton(`Sign in as ${login.name}`, () => signInAs(login), { class: "plain" }),
  )

/** What the home page shows below the form: ids to try, and a way to get an own id. */
export const home = (): ReadonlyArray<HTMLElement> => {
  const { ids, login } = demo()
  return [
    ...(ids.length > 0 ? [examples(ids)] : []),
    ...(account.value === undefined && login !== undefined ? [demoLogin(login)] : []),
    h("p", { class: "get-one" }, "Want your own? ", h("a", { href: "#/market" }, "Find an id to buy")),
  ]
}
