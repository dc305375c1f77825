import { Conflict } from "../../schema/errors.ts"

/**
 * Returns the error for an id whose owner has a valid mint permission. The id cannot get a new owner, because the old
 * owner could still mint it.
 */
export const stillMintable = (eid: string, until: string): Conflict =>
  new Conflict({
    error: `${eid} cannot change its owner until ${until}, because its owner has a mint permission.`,
    details: { mint_until: until },
  })
