interface SessionSettings {
  readonly accessTokenSeconds: number
  readonly sessionKeepHours?: number | undefined
}

/** An allowance for the difference between the clocks of the processes that sign and verify tokens. */
const leewaySeconds = 300
const defaultKeepSeconds = 2 * 86_400

/**
 * Returns for how many seconds ended sessions and grants are remembered. Afterwards, all their access tokens have
 * expired.
 */
export const lookBackSeconds = ({ accessTokenSeconds }: SessionSettings): number =>
  accessTokenSeconds + leewaySeconds

/** Returns for how many seconds ended sessions and grants are stored. */
export const sessionKeepSeconds = (settings: SessionSettings): number =>
  settings.sessionKeepHours === undefined
    ? Math.max(defaultKeepSeconds, lookBackSeconds(settings))
    : settings.sessionKeepHours * 3600
