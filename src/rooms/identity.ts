import { Layer } from "effect"
import { ApiKeyCallers } from "../services/api-key-callers.ts"
import { Limits } from "../services/limits.ts"
import { MagicLinks } from "../services/magic-links.ts"
import { SecondFactors } from "../services/second-factors.ts"
import { Sessions } from "../services/sessions.ts"
import { Totp } from "../services/totp.ts"
import { TwoFactor } from "../services/two-factor.ts"
import { Accounts } from "../store/accounts.ts"

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
