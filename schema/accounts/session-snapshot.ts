import { Schema } from "effect"

/** The stored context of a login session. Times are milliseconds since the epoch. */
export const SessionContext = Schema.Struct({
  id: Schema.String,
  userId: Schema.String,
  /** The user's token epoch at login. A session of an older epoch has ended. */
  epoch: Schema.Int,
  /** The number of the newest refresh token of the session. */
  generation: Schema.Int,
  rotatedAt: Schema.Finite,
  /** The newest token was issued for a correct code. Its predecessor must not get the rights that the code gave. */
  raisedByCode: Schema.Boolean,
  expiresAt: Schema.Finite,
  /** When a second factor was last verified; null if never. */
  verifiedAt: Schema.NullOr(Schema.Finite),
  /** The login is complete: the code was verified, or no code was required. */
  admitted: Schema.Boolean,
  wrongCodes: Schema.Int,
  lockedUntil: Schema.NullOr(Schema.Finite),
})
export type SessionContext = typeof SessionContext.Type
