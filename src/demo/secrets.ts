import { hkdfSync } from "node:crypto"
import { Redacted } from "effect"
import type { Config } from "../config/config.ts"
import { isLoopback } from "../config/loopback.ts"
import { type DemoSecretName, publishedSecrets } from "../config/published-demo-secrets.ts"
import { masterKeys } from "../config/secret-keys.ts"

type Facts = Pick<Config, "host" | "demoPasswords" | "secretKeys" | "dataDir">

export interface DemoSecret {
  readonly secret: string
  /** 'published', or the id of the master secret it is derived from. */
  readonly from: string
}

/** Ten bytes are enough against guessing over a network, and short enough to type. */
const derivedBytes = 10

/**
 * Derived rather than drawn: every process can compute it, it stays the same over restarts, and it is unknown
 * to anybody without the master secret.
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

/** The README's passwords open nothing to the network: they are for servers that only this machine reaches. */
export const usesPublishedSecrets = ({ demoPasswords, host }: Facts): boolean =>
  demoPasswords === "published" || isLoopback(host)

/** The password of a demo user, or the secret of the demo's OAuth client, with this configuration. */
export const demoSecret = (config: Facts, name: DemoSecretName): DemoSecret =>
  usesPublishedSecrets(config) ? published(name) : derived(config, name)[0]!

/** Every secret that a start with these master secrets may have set. */
export const possibleSecrets = (config: Facts, name: string): ReadonlyArray<DemoSecret> =>
  name in publishedSecrets
    ? [published(name as DemoSecretName), ...derived(config, name as DemoSecretName)]
    : []
