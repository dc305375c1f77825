import { hkdfSync } from "node:crypto"
import { Redacted } from "effect"
import { isLoopback } from "../config/loopback.ts"
import { type DemoSecretName, publishedSecrets } from "../config/published-demo-secrets.ts"
import type { Config } from "../config/read-config.ts"
import { masterKeys } from "../config/secret-keys.ts"

type Facts = Pick<Config, "host" | "demoPasswords" | "secretKeys" | "dataDir">

export interface DemoSecret {
  readonly secret: string
  /** The source of the secret: `published`, or the id of the master secret from which it is derived. */
  readonly from: string
}

/**
 * The length of a derived secret. 80 bits cannot be guessed over a network, and 20 hex digits are short enough to
 * type.
 */
const derivedBytes = 10

/**
 * Derives a demo secret from each master secret. The result is not random, so every process computes the same value,
 * also after a restart. It cannot be computed without the master secret.
 */
const derived = (config: Facts, name: DemoSecretName): ReadonlyArray<DemoSecret> =>
  masterKeys(config).map(({ id, secret }) => {
    const key = Buffer.from(Redacted.value(secret), "base64")
    const bytes = hkdfSync("sha256", key, "", `emoji-id-directory/demo/${name}`, derivedBytes)
    return { secret: Buffer.from(bytes).toString("hex"), from: id }
  })

const published = (name: DemoSecretName): DemoSecret => ({
  secret: publishedSecrets[name],
  from: "published",
})

/**
 * Whether the demo uses the secrets that the README publishes. It does if the server accepts connections only from
 * this machine, or with DEMO_PASSWORDS=published.
 */
export const usesPublishedSecrets = ({ demoPasswords, host }: Facts): boolean =>
  demoPasswords === "published" || isLoopback(host)

/** Returns the password of a demo user, or the secret of the demo OAuth client, in this configuration. */
export const demoSecret = (config: Facts, name: DemoSecretName): DemoSecret =>
  usesPublishedSecrets(config) ? published(name) : derived(config, name)[0]!

/**
 * Returns all secrets that a start with the same master secrets may have set for this name. Returns an empty list if
 * the name is not a demo login.
 */
export const possibleSecrets = (config: Facts, name: string): ReadonlyArray<DemoSecret> =>
  name in publishedSecrets
    ? [published(name as DemoSecretName), ...derived(config, name as DemoSecretName)]
    : []
