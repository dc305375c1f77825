import { Conflict } from "../../schema/errors.ts"

/** The owner holds a mint permission: if the id changed hands now, the old owner could still mint it. */
export const stillMintable = (eid: string, until: string): Conflict =>
  new Conflict({
    error: `${eid} may be minted by a permission its owner has been given, and stays theirs until that ends at ${until}.`,
    details: { mint_until: until },
  })
