import { readFileSync } from "node:fs"
import { InvalidRequest } from "../../schema/errors.ts"
import { ApiError, createClient, type ProofKeys, ProofRefused, type ProvenRequest } from "../client/client.ts"
import { type Input, optionOf, type ServiceCommand } from "./command-line/command.ts"
import { serviceUrl } from "./live.ts"

const invalid = (option: string, expected: string) =>
  new InvalidRequest({ error: `--${option}: expected ${expected}.` })

const readJson = (option: string, file: string): object => {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"))
    if (typeof value === "object" && value !== null) return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw new Error(`--${option}: ${(error as Error).message}`)
  }
  throw invalid(option, `a file with a JSON object; ${file} has none`)
}

const isProofKeys = (value: object): value is ProofKeys =>
  "origin" in value && "keys" in value && Array.isArray(value.keys)

const readKeys = (input: Input): ProofKeys | undefined => {
  const file = optionOf(input, "keys")
  if (file === undefined) return undefined
  const keys = readJson("keys", file)
  if (isProofKeys(keys)) return keys
  throw invalid("keys", "the response of GET /.well-known/emoji-id-directory")
}

/** Parses `resolve,BTC` and the like. The tags of a lookup are separated by commas too, and are one parameter. */
const readRequest = (text: string): ProvenRequest => {
  const [form = "", ...values] = text.split(",")
  if (form === "lookup" || form === "payment") return values.length === 0 ? [form] : [form, values.join(",")]
  if (form === "ticker" && values.length === 1) return [form, ...values]
  if (form === "resolve" && (values.length === 1 || values.length === 2)) return [form, ...values]
  if (form === "live" && values.length === 0) return [form]
  throw invalid("request", "lookup, ticker,TAG, payment, resolve,ASSET, resolve,ASSET,NETWORK or live")
}

const readVersion = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw invalid("at-least", "a version, which is a whole number")
}

type Client = ReturnType<typeof createClient>

const ask = (client: Client, emoji_id: string, [form, one = "", two]: ProvenRequest): Promise<object> => {
  const proof = true
  const tags = one === "" ? {} : { tags: one }
  switch (form) {
    case "lookup":
      return client.call("GET /emoji_id/{emoji_id}", { params: { emoji_id }, query: { proof, ...tags } })
    case "payment":
      return client.call("GET /emoji_id/{emoji_id}/payment", {
        params: { emoji_id },
        query: { proof, ...tags },
      })
    case "ticker":
      return client.call("GET /emoji_id/{emoji_id}/{tag}", {
        params: { emoji_id, tag: one },
        query: { proof },
      })
    case "resolve": {
      const query = { proof, asset: one, ...(two === undefined ? {} : { network: two }) }
      return client.call("GET /emoji_id/{emoji_id}/resolve", { params: { emoji_id }, query })
    }
    default:
      throw invalid("answer", "a file with a live state, because a lookup over HTTP has none")
  }
}

/** Returns the answer, or an error about the id. It has a proof too, for example if the id is not registered. */
const answerOf = async (client: Client, input: Input, emojiId: string, request: ProvenRequest) => {
  const file = optionOf(input, "answer")
  if (file !== undefined) return readJson("answer", file)
  try {
    return await ask(client, emojiId, request)
  } catch (error) {
    if (error instanceof ApiError && "proof" in Object(error.body)) return error
    throw error
  }
}

/** The code of the error, if the proven answer is an error of resolve. */
const errorOf = (answer: object): { readonly error?: string } => {
  const { code } = Object(answer instanceof ApiError ? answer.body : answer) as { readonly code?: unknown }
  return typeof code === "string" ? { error: code } : {}
}

const verify: ServiceCommand = {
  name: "verify",
  words: ["emoji_id"],
  options: ["url", "keys", "answer", "request", "at-least"],
  summary:
    "Look an emoji id up and verify the signed answer, or verify the answer in the file --answer. --keys names a file with the key document; without it, the service is asked. --request says what was asked, such as resolve,BTC (default: lookup). Exit code 1 if the answer must not be trusted",
  example: "🚀🌊🔥 --request resolve,BTC",
  call: async (input, { baseUrl, print }) => {
    const emojiId = input.words[0] ?? ""
    const keys = readKeys(input)
    const request = readRequest(optionOf(input, "request") ?? "lookup")
    const client = createClient({ baseUrl: serviceUrl(optionOf(input, "url") ?? baseUrl) })
    const answer = await answerOf(client, input, emojiId, request)
    const atLeast = readVersion(optionOf(input, "at-least") ?? "0")
    try {
      const found = await client.verify(answer, {
        emojiId,
        request,
        atLeast,
        ...(keys === undefined ? {} : { keys }),
      })
      print({
        valid: true,
        ...errorOf(answer),
        origin: found.origin,
        emoji_id: found.emojiId,
        registered: found.registered,
        version: found.version,
        records_root: found.recordsRoot,
        owner: found.owner,
        signed_by_owner: found.isSignedByOwner,
        key_id: found.keyId,
        issued_at: found.issuedAt.toISOString(),
        expires_at: found.expiresAt.toISOString(),
      })
    } catch (error) {
      if (error instanceof ProofRefused) throw new Error(`${error.code}: ${error.message}`)
      throw error
    }
  },
}

export const verifyCommands: ReadonlyArray<ServiceCommand> = [verify]
