import { Effect, Schema } from "effect"
import { atMostOnce } from "../../../actors/operation.ts"
import { Forbidden, NotFound, Unprocessable } from "../../../schema/errors.ts"
import {
  type Code,
  CodeAvailability,
  CodeType,
  ListOfCodeAvailability,
  NewCode,
} from "../../../schema/orders/code.ts"
import { paged, pageQuery, pageRequest } from "../../../schema/paging.ts"
import { Uuid } from "../../../schema/wire-format.ts"
import { checkInOrganization, checkScope } from "../../accounts/permissions.ts"
import { route } from "../../http/route.ts"
import type { WriteOutcome } from "../../postgres/guarded-write.ts"
import { Codes, codeList, showCode } from "./code-store.ts"

const shared = { group: "codes", auth: "JWT" } as const
const showWritten = ({ rows }: WriteOutcome<Code, undefined>) => showCode(rows[0]!)

const listCodes = route({
  ...shared,
  id: "listCodes",
  summary: "List codes and their uses",
  description:
    "`organization_id` lists the codes of an organization; it requires organizationCode:admin in the organization.",
  method: "get",
  path: "/codes",
  access: { organization: "organizationCode:admin", others: "code:read" },
  query: {
    ...pageQuery(codeList),
    code_type: Schema.optionalKey(CodeType),
    organization_id: Schema.optionalKey(Uuid),
  },
  success: ListOfCodeAvailability,
  errors: [Forbidden],
  handler: ({ principal, query }) =>
    Effect.gen(function* () {
      const organizationId = query.organization_id?.toLowerCase()
      yield* organizationId === undefined
        ? checkScope(principal, "code:read")
        : checkInOrganization(principal, organizationId, "organizationCode:admin")
      const page = yield* pageRequest(codeList, query)
      const found = yield* Codes.use((codes) =>
        codes.list({ codeType: query.code_type, organizationId }, page),
      )
      return paged(codeList, page, found, found.rows.map(showCode))
    }),
})

const createCode = route({
  ...shared,
  id: "createCode",
  summary: "Create a discount code or a random id code",
  description:
    "A discount is a percentage or an amount in cents. Limits such as `max_uses`, `end_date` and `pattern` are exact, also under load. `organization_id` requires organizationCode:admin in the organization. Codes of an organization discount only orders of its partner pages and signed activations, within its budget.",
  method: "post",
  path: "/codes",
  access: { organization: "organizationCode:admin", others: "code:write" },
  body: NewCode,
  success: CodeAvailability,
  errors: [Forbidden, Unprocessable],
  handler: ({ body, principal }) =>
    Effect.gen(function* () {
      yield* body.organization_id == null
        ? checkScope(principal, "code:write")
        : checkInOrganization(principal, body.organization_id, "organizationCode:admin")
      return yield* Codes.use((codes) => codes.create(body))
    }).pipe(atMostOnce, Effect.map(showWritten)),
})

const deleteCode = route({
  ...shared,
  id: "deleteCode",
  summary: "Delete a code",
  description: "It cannot be used any more. Earlier uses stay valid.",
  method: "del",
  path: "/codes/:code_id",
  access: { organization: "organizationCode:admin", others: "code:delete" },
  params: { code_id: Uuid },
  success: CodeAvailability,
  errors: [Forbidden, NotFound],
  handler: ({ params, principal }) =>
    Effect.gen(function* () {
      const codes = yield* Codes
      const code = yield* codes.find(params.code_id)
      if (code?.organization_id == null) yield* checkScope(principal, "code:delete")
      else yield* checkInOrganization(principal, code.organization_id, "organizationCode:admin")
      return yield* codes.delete(params.code_id)
    }).pipe(atMostOnce, Effect.map(showWritten)),
})

export const codes = [listCodes, createCode, deleteCode] as const
