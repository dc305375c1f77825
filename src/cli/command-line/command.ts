import { Effect, Result, type Schema } from "effect"
import { InvalidRequest, NotFound, type Problem } from "../../../schema/errors.ts"
import type { Page, PageRequest } from "../../../schema/paging.ts"
import { UserList } from "../../accounts/user-list-store.ts"
import type { Config } from "../../config/read-config.ts"
import { decoder } from "../../http/request/decode.ts"
import { Organizations } from "../../organizations/organization-store.ts"
import type { CliServices } from "../services.ts"

export interface Input {
  /** The positional arguments, one per name in the command's `words`. */
  readonly words: ReadonlyArray<string>
  /** The values of each given `--name` option, by its name. A given flag has the value [""]. */
  readonly options: Readonly<Record<string, ReadonlyArray<string>>>
}

interface CommandForm {
  readonly name: string
  readonly words: ReadonlyArray<string>
  readonly options?: ReadonlyArray<string>
  readonly flags?: ReadonlyArray<string>
  readonly summary: string
  /** The arguments of the example in the help, if the usual ones (see `samples`) do not fit. */
  readonly example?: string
  /** The name under which earlier releases had the command. It still works. */
  readonly formerName?: string
  /** Formats the result for people. Without it, the result is printed as a table or as lines. */
  readonly text?: (result: never) => string
}

/** A command that reads or changes the database. The program prints the value that `run` returns. */
export interface Command extends CommandForm {
  readonly run: (input: Input) => Effect.Effect<unknown, Problem, CliServices>
  /** Whether the exit code is 1 although there is a result, which is printed. */
  readonly isFailure?: (result: unknown) => boolean
}

/** A command that calls a running service. It prints values with `print` while it runs. */
export interface ServiceCommand extends CommandForm {
  readonly call: (
    input: Input,
    context: { readonly baseUrl: string; readonly print: (value: unknown) => void },
  ) => Promise<void>
}

/** A command that opens the database itself, or needs none. The database is not migrated. */
export interface OfflineCommand extends CommandForm {
  readonly work: (
    input: Input,
    context: {
      readonly config: Config
      /** Writes a line to standard error. */
      readonly note: (line: string) => void
      /** Ctrl-C and SIGTERM abort it. The command then removes what it has written, and fails. */
      readonly signal: AbortSignal
    },
  ) => Promise<unknown>
  /** Whether the exit code is 1 although there is a result, which is printed. */
  readonly isFailure?: (result: unknown) => boolean
}

/** A command that runs whatever the settings are, because it checks them or makes one. */
export interface ToolCommand extends CommandForm {
  readonly tool: (
    input: Input,
    context: {
      /** Writes a line to standard error. */
      readonly note: (line: string) => void
    },
  ) => Promise<unknown>
  /** Whether the exit code is 1 although there is a result, which is printed. */
  readonly isFailure?: (result: unknown) => boolean
}

export type CliCommand = Command | ServiceCommand | OfflineCommand | ToolCommand

export const optionOf = ({ options }: Input, name: string): string | undefined => options[name]?.at(-1)

/** An option with a number. Other text is returned unchanged, so that the check of the value refuses it. */
export const numberOf = (input: Input, name: string) => {
  const given = optionOf(input, name)
  return given !== undefined && /^\d+$/.test(given) ? Number(given) : (given ?? null)
}

/** Decodes a value with the schema, as the HTTP API does. Fails with InvalidRequest if the value is invalid. */
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

/** Returns the argument if it is one of `words`. Otherwise fails with InvalidRequest. */
export const checkedWord = <const A extends string>(
  name: string,
  words: ReadonlyArray<A>,
  given: string | undefined,
): Effect.Effect<A, InvalidRequest> => {
  const found = words.find((word) => word === given)
  return found === undefined
    ? Effect.fail(
        new InvalidRequest({ error: `Unknown ${name} "${given}". Use one of: ${words.join(", ")}.` }),
      )
    : Effect.succeed(found)
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
export const isUuid = (text: string): boolean => uuid.test(text)

/** Returns the id of a user. `name` is the email or the id of the user. An id is returned without a lookup. */
export const userId = Effect.fnUntraced(function* (name: string) {
  if (uuid.test(name)) return name.toLowerCase()
  const id = yield* UserList.use((users) => users.findIdByEmail(name.trim().toLowerCase()))
  return id ?? (yield* new NotFound({ error: `User not found: ${name}` }))
})

/**
 * Like `userId`, for commands that grant privileges. If `name` is an email, the user must have confirmed it, because
 * anyone can register with any email.
 */
export const trustedUserId = Effect.fnUntraced(function* (name: string) {
  const id = yield* userId(name)
  if (uuid.test(name)) return id
  const { email_verified_at } = yield* UserList.use((users) => users.get(id))
  if (email_verified_at !== undefined) return id
  return yield* new InvalidRequest({
    error: `The email ${name} is not confirmed and may belong to another person. To confirm the choice, use the id: ${id}`,
  })
})

/** Returns the id of an organization. `name` is its partner path or its id. An id is returned without a lookup. */
export const organizationId = Effect.fnUntraced(function* (name: string) {
  if (uuid.test(name)) return name.toLowerCase()
  const found = yield* Organizations.use((organizations) => organizations.findByPartnerPath(name))
  return found?.organization_id ?? (yield* new NotFound({ error: `Organization not found: ${name}` }))
})

const pageSize = 200

/** Reads all pages of a list and returns their entries as one list. */
export const everyPage = Effect.fnUntraced(function* <A, Sort extends string, E, R>(
  { dir, sort }: Pick<PageRequest<Sort>, "dir" | "sort">,
  list: (page: PageRequest<Sort>) => Effect.Effect<Page<A>, E, R>,
) {
  const found: Array<A> = []
  let request: PageRequest<Sort> | undefined = { dir, limit: pageSize, page: 0, sort }
  while (request !== undefined) {
    const { next, rows }: Page<A> = yield* list(request)
    found.push(...rows)
    request = next === undefined ? undefined : { ...request, after: next }
  }
  return found
})
