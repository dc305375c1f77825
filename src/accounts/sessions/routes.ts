import { Effect, Schema } from "effect"
import { atMostOnce } from "../../../actors/operation.ts"
import { DisplaySession, SuccessResponse } from "../../../schema/accounts/session.ts"
import { NotFound } from "../../../schema/errors.ts"
import { Uuid } from "../../../schema/wire-format.ts"
import { route } from "../../http/route.ts"
import { Sessions } from "./sessions.ts"

const group = "authentication"

const list = route({
  id: "listSessions",
  group,
  summary: "List the current user's sign-in sessions",
  description:
    "Each session has its device, address and last use. `current` marks the session of this request.",
  method: "get",
  path: "/account/sessions",
  auth: "two_factor",
  limit: "read",
  success: Schema.Array(DisplaySession),
  errors: [],
  handler: ({ principal }) =>
    Sessions.use((sessions) =>
      Effect.map(sessions.list(principal.userId), (found) =>
        found.map((session) => ({ ...session, current: session.id === principal.sessionId })),
      ),
    ),
})

const end = route({
  id: "endSession",
  group,
  summary: "End one sign-in session of the current user",
  description: "Its tokens stop working, and its live sockets are closed.",
  method: "del",
  path: "/account/sessions/:session_id",
  auth: "two_factor",
  scope: "user:writeSelf",
  endsLogin: true,
  limit: "write",
  params: { session_id: Uuid },
  success: SuccessResponse,
  errors: [NotFound],
  handler: ({ params, principal }) =>
    Sessions.use((sessions) =>
      atMostOnce(sessions.endOne(principal.userId, params.session_id.toLowerCase())).pipe(
        Effect.flatMap(sessions.endedOne),
        Effect.as({ message: "The session was ended." }),
      ),
    ),
})

export const sessions = [list, end] as const
