import { Result, Schema } from "effect"
import type { InvalidRequest } from "../../../schema/errors.ts"
import type { RawRequest } from "../endpoint.ts"
import type { Route } from "../route.ts"
import { decoder, memberCheck, parseJsonBody, parseQueryText } from "./decode.ts"
import { parameterNames } from "./path.ts"

const noInput = {}
/** The decoded input of a request. */
export interface Input {
  readonly params: {}
  readonly query: {}
  readonly body: unknown
}
export const emptyInput: Input = { params: noInput, query: noInput, body: undefined }
const noValues = Result.succeed(noInput)
const noBody = Result.succeed(undefined)

/** Whether a request of the route has nothing to decode. */
export const takesNothing = (route: Route): boolean =>
  parameterNames(route.path).length === 0 &&
  route.query === undefined &&
  (route.body === undefined || !!route.rawBody)

const makeBodyDecode = (route: Route) => {
  if (route.body === undefined || route.rawBody) return undefined
  const decode = decoder(route.body, "body")
  if (route.method !== "patch") return (bytes: Uint8Array) => Result.flatMap(parseJsonBody(bytes), decode)
  const check = memberCheck(route.body)
  return (bytes: Uint8Array) => Result.flatMap(Result.flatMap(parseJsonBody(bytes), check), decode)
}

/** Returns the function that decodes requests of a route. */
export const makeDecode = (route: Route) => {
  const params = decoder(Schema.Struct(route.params ?? {}), "path")
  const query = decoder(Schema.Struct(route.query ?? {}), "query")
  const body = makeBodyDecode(route)
  const names = parameterNames(route.path)
  const isNothing = takesNothing(route)
  const areTexts = names.every((name) => route.params?.[name] === Schema.String)
  const paramsOf = ({ params: given }: RawRequest) => {
    const named: Record<string, unknown> = {}
    for (let i = 0; i < names.length; i++) named[names[i]!] = given[i]
    return areTexts ? Result.succeed(named) : params(named)
  }
  /** The decoded value of an empty query string. It is decoded once, because most requests have no query string. */
  const withoutQuery = route.query === undefined ? noValues : query({})
  return (request: RawRequest): Result.Result<Input, InvalidRequest> => {
    if (isNothing) return Result.succeed(emptyInput)
    const inPath = names.length === 0 ? noValues : paramsOf(request)
    if (Result.isFailure(inPath)) return Result.fail(inPath.failure)
    const inQuery =
      route.query === undefined || request.query === ""
        ? withoutQuery
        : Result.flatMap(parseQueryText(request.query), query)
    if (Result.isFailure(inQuery)) return Result.fail(inQuery.failure)
    const inBody = body === undefined ? noBody : body(request.body)
    if (Result.isFailure(inBody)) return Result.fail(inBody.failure)
    return Result.succeed({
      params: inPath.success as {},
      query: inQuery.success as {},
      body: inBody.success,
    })
  }
}
