import { claimsOf } from "../accounts/person.ts"
import type { TestService } from "../fixtures/service.ts"

/** A minute passes since the login was last renewed. The service must be one of several, to see it. */
export const passGrace = (service: TestService, token: string) => service.sql`
  update entity set version = version + 1, state = jsonb_set(state, '{context,rotatedAt}',
    to_jsonb((state->'context'->>'rotatedAt')::float8 - 60000))
  where kind = 'session' and id = ${claimsOf(token).sid}`
