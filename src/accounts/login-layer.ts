import { Layer } from "effect"
import { Limits } from "../http/limits/rate-limits.ts"
import { Accounts } from "./account-store.ts"
import { ApiKeyCallers } from "./api-keys/caller-store.ts"
import { MagicLinks } from "./login/magic-links.ts"
import { Sessions } from "./sessions/sessions.ts"
import { SecondFactors } from "./two-factor/second-factors.ts"
import { Totp } from "./two-factor/totp.ts"
import { TwoFactor } from "./two-factor/two-factor.ts"

/** Who somebody is and how they show it: accounts, sessions, second factors, links and keys. */
export const identity = Layer.mergeAll(MagicLinks.layer, TwoFactor.layer).pipe(
  Layer.provideMerge(Sessions.layer),
  Layer.provideMerge(SecondFactors.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      Accounts.layer,
      ApiKeyCallers.layer,
      Limits.layer,
      Totp.layer({ issuer: "Emoji Id Directory" }),
    ),
  ),
)
