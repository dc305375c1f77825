import { Conflict } from "../../schema/errors.ts"

/** The owner has a mint permission. If the id got a new owner now, the old owner could still mint it. */
export const stillMintable = (eid: string, until: string): Conflict =>
  new Conflict({
    error: `The owner of ${eid} has a mint permission. The emoji id cannot change its owner until it expires at ${until}.`,
    details: { mint_until: until },
  })
