import type { Answer } from "./lane.ts"
import type { Parts, World } from "./world.ts"

const decoded = (text: string): string =>
  text
    .replaceAll("&amp;", "&")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")

/** A browser without scripts: it keeps cookies, and sends the forms of pages with their hidden fields. */
export class Browser {
  readonly #world: World
  readonly #cookies = new Map<string, string>()

  constructor(world: World) {
    this.#world = world
  }

  async call(operation: string, parts: Parts = {}): Promise<Answer> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const answer = await this.#world.call(operation, {
      ...parts,
      headers: { ...(cookie === "" ? {} : { cookie }), "sec-fetch-site": "same-origin", ...parts.headers },
    })
    for (const line of answer.cookies) {
      const [pair = "", ...attributes] = line.split("; ")
      const [name = "", value = ""] = pair.split("=")
      if (attributes.includes("Max-Age=0")) this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    return answer
  }

  /** Sends the first form of the page. Its operation has the path of the form's action. */
  submit(
    operation: string,
    page: Answer,
    fields: Readonly<Record<string, string>>,
    parts: Parts = {},
  ): Promise<Answer> {
    const action = new URL(decoded(/<form[^>]* action="([^"]*)"/.exec(page.text)?.[1] ?? "/"), "http://none")
    const hidden = [...page.text.matchAll(/type="hidden" name="(form_token|visit|user)" value="([^"]*)"/g)]
    const marks = Object.fromEntries(hidden.map(([, name = "", value = ""]) => [name, decoded(value)]))
    return this.call(operation, {
      query: Object.fromEntries(action.searchParams),
      ...parts,
      form: { ...marks, ...fields },
    })
  }

  /** Logs in with a mailed link, from a page that offers it. Returns the response to the link's form. */
  async logInByMail(email: string): Promise<Answer> {
    const { searchParams } = await this.#world.link(email)
    const page = await this.call("magicLink", { query: Object.fromEntries(searchParams) })
    return this.submit("useMagicLink", page, { action: "use" })
  }
}

/** The query parameters of the address that a response redirects to. */
export const redirected = (answer: Answer): URL => new URL(answer.header("location") ?? "", "http://none")
