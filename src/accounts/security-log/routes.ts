import { Effect } from "effect"
import { SecurityLogEntry } from "../../../schema/accounts/security-event.ts"
import { NotFound } from "../../../schema/errors.ts"
import { paged, pageOf, pageQuery, pageRequest } from "../../../schema/paging.ts"
import { Uuid } from "../../../schema/wire-format.ts"
import { route } from "../../http/route.ts"
import { UserList } from "../user-list-store.ts"
import { SecurityLog } from "./security-log.ts"
import { securityLogList } from "./security-log-store.ts"

const shared = {
  group: "users",
  method: "get",
  query: pageQuery(securityLogList),
  success: pageOf(SecurityLogEntry, "ListOfSecurityLogEntry"),
} as const

const own = route({
  ...shared,
  id: "getSecurityLog",
  summary: "List the security events of your account",
  description:
    "Sign-ins, failed sign-ins, and changes of credentials and permissions of the last year, newest first. API keys cannot read it.",
  path: "/account/security_log",
  // The log contains the addresses of the user, which an API key has no need for.
  auth: "two_factor",
  errors: [],
  handler: ({ principal, query }) =>
    Effect.gen(function* () {
      const page = yield* pageRequest(securityLogList, query)
      const found = yield* SecurityLog.use((log) => log.list(principal.userId, page, "owner"))
      return paged(securityLogList, page, found, found.rows)
    }),
})

const ofUser = route({
  ...shared,
  id: "getSecurityLogOfUser",
  summary: "List the security events of a user",
  description: "For administrators: the events of the last year, newest first.",
  path: "/users/:id/security_log",
  auth: "JWT",
  scope: "adminUser:load",
  params: { id: Uuid },
  errors: [NotFound],
  handler: ({ params, query }) =>
    Effect.gen(function* () {
      const userId = params.id.toLowerCase()
      yield* UserList.use((users) => users.check(userId))
      const page = yield* pageRequest(securityLogList, query)
      const found = yield* SecurityLog.use((log) => log.list(userId, page, "administrators"))
      return paged(securityLogList, page, found, found.rows)
    }),
})

export const securityLog = [own, ofUser] as const
