import { generateKeyPairSync, randomUUID } from "node:crypto"
import { succeed, type User, type World } from "./world.ts"

/** Creates an API key. */
export const createApiKey = async (world: World, user: User): Promise<void> => {
  const name = randomUUID()
  const made = await succeed(world, user, {
    name: "createApiKey",
    method: "POST",
    path: "/api_keys",
    body: { name },
  })
  if (made === undefined) return
  world.unchecked.add({
    invariant: 5,
    what: `API key ${name} of ${user.name} was created once`,
    query: "select count(*) as found from api_key where name = $1",
    values: [name],
    expected: 1,
  })
}

/** Adds a public key. */
export const addPubkey = async (world: World, user: User): Promise<void> => {
  const pubkey = generateKeyPairSync("ed25519")
    .publicKey.export({ format: "der", type: "spki" })
    .subarray(-32)
    .toString("hex")
  const added = await succeed(world, user, {
    name: "addPubkey",
    method: "POST",
    path: `/pubkeys/${pubkey}`,
  })
  if (added === undefined) return
  world.unchecked.add({
    invariant: 6,
    what: `public key ${pubkey} of ${user.name} was added`,
    query: "select count(*) as found from pubkey where pubkey = $1 and user_id = $2::uuid",
    values: [pubkey, user.id],
    expected: 1,
  })
}
