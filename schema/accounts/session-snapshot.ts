import { Schema } from "effect"

/** The device that last renewed a session's tokens. */
export const SessionDevice = Schema.Struct({ name: Schema.String, address: Schema.String })
export type SessionDevice = typeof SessionDevice.Type

/** The stored context of a login session. Times are in milliseconds since the Unix epoch. */
export const SessionContext = Schema.Struct({
  id: Schema.String,
  userId: Schema.String,
  /** The user's token epoch at login. The session has ended if the user's current epoch is newer. */
  epoch: Schema.Int,
  /** The number of the newest refresh token of the session. */
  generation: Schema.Int,
  rotatedAt: Schema.Finite,
  /**
   * Whether the newest refresh token was issued for a correct two-factor code. If so, the previous refresh token must
   * not get the rights that the code gave.
   */
  raisedByCode: Schema.Boolean,
  expiresAt: Schema.Finite,
  /** The time when a second factor was last verified, or null if it never was. */
  verifiedAt: Schema.NullOr(Schema.Finite),
  /** Whether the login is complete: the two-factor code was verified, or no code was required. */
  admitted: Schema.Boolean,
  /** Not used. Wrong codes are counted for the account. Release 0.2 cannot read a session without this member. */
  wrongCodes: Schema.Int,
  /** Until when the account's two-factor codes are locked, if the state is `Locked`; otherwise null. */
  lockedUntil: Schema.NullOr(Schema.Finite),
  /**
   * Set in the state `Stale`: the verification that is too old, or null if the session never had one. Release 0.2 cannot
   * read this state. So `Stale` is stored as `Verified`, and this member distinguishes the two. If release 0.2 verifies a
   * code, `verifiedAt` differs from it, and the session is `Verified`.
   */
  stale: Schema.optionalKey(Schema.NullOr(Schema.Struct({ verifiedAt: Schema.NullOr(Schema.Finite) }))),
  /** Sessions of release 0.2 have none until their next refresh. */
  device: Schema.optionalKey(SessionDevice),
})
export type SessionContext = typeof SessionContext.Type
