import { Effect, Result, type Schema } from "effect"
import { InvalidRequest, NotFound, type Problem } from "../../schema/errors.ts"
import { UserAdmin } from "../accounts/user-admin-store.ts"
import { decoder } from "../http/request/decode.ts"
import { Organizations } from "../organizations/organization-store.ts"
import type { CliServices } from "./services.ts"

export interface Input {
  /** The words after the command's name, one per name in `words`. */
  readonly words: ReadonlyArray<string>
  /** Values of `--name`; a flag is [""]. */
  readonly options: Readonly<Record<string, ReadonlyArray<string>>>
}

interface CommandForm {
  readonly name: string
  readonly words: ReadonlyArray<string>
  readonly options?: ReadonlyArray<string>
  readonly flags?: ReadonlyArray<string>
  readonly summary: string
}

/** A command that works on the database. Its result is printed. */
export interface Command extends CommandForm {
  readonly run: (input: Input) => Effect.Effect<unknown, Problem, CliServices>
}

/** A command that calls a running service, and prints while it runs. */
export interface ServiceCommand extends CommandForm {
  readonly call: (
    input: Input,
    context: { readonly baseUrl: string; readonly print: (value: unknown) => void },
  ) => Promise<void>
}

export type CliCommand = Command | ServiceCommand

export const optionOf = ({ options }: Input, name: string): string | undefined => options[name]?.at(-1)

/** The same rules as over HTTP. */
export const checked = <S extends Schema.Top>(
  schema: S,
  value: unknown,
): Effect.Effect<S["Type"], InvalidRequest> =>
  Effect.fromResult(
    Result.mapError(
      decoder(schema, "argument")(value),
      (problem) => new InvalidRequest({ error: problem.message }),
    ),
  )

/** One of a few words, which a mistake is answered with. */
export const checkedWord = <const A extends string>(
  words: ReadonlyArray<A>,
  given: string | undefined,
): Effect.Effect<A, InvalidRequest> => {
  const found = words.find((word) => word === given)
  return found === undefined
    ? Effect.fail(new InvalidRequest({ error: `${given} is none of ${words.join(", ")}.` }))
    : Effect.succeed(found)
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A user by email or id. */
export const userId = Effect.fnUntraced(function* (name: string) {
  if (uuid.test(name)) return name.toLowerCase()
  const id = yield* UserAdmin.use((users) => users.findIdByEmail(name.trim().toLowerCase()))
  return id ?? (yield* new NotFound({ error: `There is no user ${name}.` }))
})

/** A user who is given power: by id, or by an address that is confirmed, since anybody may register one. */
export const trustedUserId = Effect.fnUntraced(function* (name: string) {
  const id = yield* userId(name)
  if (uuid.test(name)) return id
  const { email_verified_at } = yield* UserAdmin.use((users) => users.get(id))
  if (email_verified_at !== undefined) return id
  return yield* new InvalidRequest({
    error: `${name} is not confirmed, and somebody else may have registered it. If not, name the user by id: ${id}`,
  })
})

/** An organization by partner path or id. */
export const organizationId = Effect.fnUntraced(function* (name: string) {
  if (uuid.test(name)) return name.toLowerCase()
  const found = yield* Organizations.use((organizations) => organizations.findByPartnerPath(name))
  return found?.organization_id ?? (yield* new NotFound({ error: `There is no organization ${name}.` }))
})

const pageSize = 200

/** Everything of a list that is had by pages. */
export const everyPage = Effect.fnUntraced(function* <A, E, R>(
  list: (page: number, limit: number) => Effect.Effect<ReadonlyArray<A>, E, R>,
) {
  const found: Array<A> = []
  for (let page = 0; found.length === page * pageSize; page++) {
    const more = yield* list(page, pageSize)
    if (more.length === 0) break
    found.push(...more)
  }
  return found
})
