import { claimsOf } from "../accounts/person.ts"
import type { TestService } from "../fixtures/service.ts"

/**
 * Moves the last token renewal one minute into the past, so that the grace period of the old refresh token has ended.
 * The service must run with `peersPossible`.
 */
export const passGrace = (service: TestService, token: string) => service.sql`
  update entity set version = version + 1, state = jsonb_set(state, '{context,rotatedAt}',
    to_jsonb((state->'context'->>'rotatedAt')::float8 - 61000))
  where kind = 'session' and id = ${claimsOf(token).sid}`
