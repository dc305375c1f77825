import type { ProvenRequest, VerifyOptions } from "./verify.ts"

type Asked = Pick<VerifyOptions, "emojiId" | "request">

interface GivenInput {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: {
    readonly emoji_ids?: ReadonlyArray<string>
    readonly items?: ReadonlyArray<{
      readonly emoji_id: string
      readonly asset: string
      readonly network?: string | null
    }>
  }
}

const given = (...values: ReadonlyArray<unknown>): ProvenRequest =>
  values.filter((value) => value != null).map(String)

/** What a call asks about one id, by the operation. */
const single: Readonly<Record<string, (input: Required<GivenInput>) => ProvenRequest>> = {
  "GET /emoji_id/{emoji_id}": ({ query }) => given("lookup", query["tags"]),
  "GET /emoji_id/{emoji_id}/{tag}": ({ params }) => given("ticker", params["tag"]),
  "GET /emoji_id/{emoji_id}/payment": ({ query }) => given("payment", query["tags"]),
  "GET /emoji_id/{emoji_id}/resolve": ({ query }) => given("resolve", query["asset"], query["network"]),
}

/** What a call asks about the ids of a batch, in the order of the answers. */
const batches: Readonly<Record<string, (input: Required<GivenInput>) => ReadonlyArray<Asked>>> = {
  "POST /emoji_id/lookup": ({ body }) =>
    (body.emoji_ids ?? []).map((emojiId) => ({ emojiId, request: ["lookup"] })),
  "POST /emoji_id/resolve": ({ body }) =>
    (body.items ?? []).map(({ asset, emoji_id, network }) => ({
      emojiId: emoji_id,
      request: given("resolve", asset, network),
    })),
}

/** Remembers for each answer of a client what was asked, as long as the application keeps the answer. */
export class AskedAnswers {
  readonly #asked = new WeakMap<object, Asked>()

  find(answer: object): Asked | undefined {
    return this.#asked.get(answer)
  }

  set(answer: unknown, asked: Asked): void {
    if (typeof answer === "object" && answer !== null) this.#asked.set(answer, asked)
  }

  /** Called with each answer of a call, also with that of an error. */
  add(name: string, call: object | undefined, answer: unknown): void {
    const input = { params: {}, query: {}, body: {}, ...(call as GivenInput | undefined) }
    const request = single[name]?.(input)
    if (request !== undefined) this.set(answer, { emojiId: String(input.params["emoji_id"]), request })
    const asked = batches[name]?.(input) ?? []
    const { result } = Object(answer) as { readonly result?: unknown }
    if (Array.isArray(result)) for (const [place, one] of asked.entries()) this.set(result[place], one)
  }
}
