import { Layer } from "effect"
import { AuthorizationCodes } from "../services/authorization-codes.ts"
import { BrowserSessions } from "../services/browser-sessions.ts"
import { Browsers } from "../services/browsers.ts"
import { PartnerVisits } from "../services/partner-visits.ts"
import { partnerWrites } from "../services/partner-writes.ts"

/** What hosted pages need: cookies, logins, codes for applications, visits from partners. */
export const web = partnerWrites.pipe(
  Layer.provideMerge(
    Layer.mergeAll(AuthorizationCodes.layer, BrowserSessions.layer, Browsers.layer, PartnerVisits.layer),
  ),
)
