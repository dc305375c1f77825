import { type EmojiId, parseEmojiId } from "../../schema/directory/emoji-id.ts"
import type { DatabaseAddress } from "../../src/postgres/client.ts"
import { serve, type TestService, type TestUser } from "../fixtures/service.ts"

export const emojiId = (text: string): EmojiId => {
  const id = parseEmojiId(text)
  if (id._tag === "EmojiIdRefused") throw new Error(id.message)
  return id
}

export const bitcoin = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"
export const otherBitcoin = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
export const ethereum = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"

export interface DirectoryService extends TestService {
  readonly admin: TestUser
  /** Registers the id for the user. The request is sent by the admin. */
  register(text: string, owner: TestUser, pubkey?: string): Promise<void>
  edit(text: string, caller: TestUser, body: unknown): ReturnType<TestService["call"]>
  lookup(text: string): ReturnType<TestService["call"]>
}

/** Starts the service and returns it with an admin and with helper functions for the tests of the directory. */
export const serveDirectory = async (
  environment: Record<string, string> = {},
  given?: {
    readonly database?: DatabaseAddress
    readonly peersPossible?: boolean
    readonly maxWaitMs?: number
  },
): Promise<DirectoryService> => {
  const service = await serve(environment, given)
  const admin = await service.user({ role: "Admin" })
  return {
    ...service,
    admin,
    register: async (text, owner, pubkey) => {
      const body = { emoji_id: text, user_id: owner.id, pubkey }
      const answer = await service.call("POST", "/emoji_id", { token: admin.token, body })
      if (answer.status !== 200) throw new Error(answer.text)
    },
    edit: (text, caller, body) =>
      service.call("PATCH", `/emoji_id/${encodeURIComponent(text)}`, { token: caller.token, body }),
    lookup: (text) => service.call("GET", `/emoji_id/${encodeURIComponent(text)}`),
  }
}
