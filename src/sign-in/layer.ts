import { Layer } from "effect"
import { Browsers } from "../accounts/sessions/browser-cookies.ts"
import { BrowserSessions } from "../accounts/sessions/browser-sessions.ts"
import { partnerWrites } from "../partners/record-writes.ts"
import { PartnerVisits } from "../partners/visits.ts"
import { AuthorizationCodes } from "./oauth/authorization-codes.ts"

/** What hosted pages need: cookies, logins, codes for applications, visits from partners. */
export const web = partnerWrites.pipe(
  Layer.provideMerge(
    Layer.mergeAll(AuthorizationCodes.layer, BrowserSessions.layer, Browsers.layer, PartnerVisits.layer),
  ),
)
