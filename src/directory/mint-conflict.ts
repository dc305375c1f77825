import { Conflict } from "../../schema/errors.ts"

/** The owner has a mint permission. If the id got a new owner now, the old owner could still mint it. */
export const stillMintable = (eid: string, until: string): Conflict =>
  new Conflict({
    error: `${eid} cannot change its owner until ${until}, because its owner has a mint permission.`,
    details: { mint_until: until },
  })
