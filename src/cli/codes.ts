import { Effect } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { type Code, CodeType, NewCode } from "../../schema/orders/code.ts"
import { Codes, codeList, showCode } from "../orders/codes/code-store.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import {
  type Command,
  checked,
  checkedWord,
  everyPage,
  type Input,
  numberOf,
  optionOf,
  organizationId,
} from "./command-line/command.ts"

const organizationOf = Effect.fnUntraced(function* (input: Input) {
  const given = optionOf(input, "organization")
  return given === undefined ? undefined : yield* organizationId(given)
})

const showWritten = ({ rows }: WriteOutcome<Code, undefined>) => showCode(rows[0]!)

const list: Command = {
  name: "codes list",
  words: [],
  options: ["type", "organization"],
  summary:
    "List discount codes and random id codes with their uses. --type is Discount or RandomYat, --organization lists those of a partner",
  example: "--type Discount",
  run: (input) =>
    Effect.gen(function* () {
      const type = optionOf(input, "type")
      const filter = {
        codeType: type === undefined ? undefined : yield* checkedWord("type", CodeType.literals, type),
        organizationId: yield* organizationOf(input),
      }
      const codes = yield* Codes
      const found = yield* everyPage({ dir: codeList.dir, sort: "created_at" }, (page) =>
        codes.list(filter, page),
      )
      return found.map((code) => ({
        name: code.name,
        type: code.code_type,
        code: code.redemption_code ?? "",
        discount:
          code.discount_as_percentage !== null
            ? `${code.discount_as_percentage} %`
            : code.discount_in_cents !== null
              ? `${code.discount_in_cents} cents`
              : "",
        uses: code.max_uses === null ? String(code.uses) : `${code.uses} of ${code.max_uses}`,
        state: code.deleted_at === null ? "active" : "deleted",
        id: code.id,
      }))
    }),
}

const create: Command = {
  name: "codes create",
  words: ["name"],
  options: ["type", "code", "percent", "cents", "max-uses", "max-per-user", "start", "end", "organization"],
  summary:
    "Create a code. --code is what buyers enter. A discount needs --percent or --cents. --type RandomYat gives a random id. --start and --end are times such as 2026-12-01T00:00:00Z",
  example: '"Launch" --code LAUNCH20 --percent 20 --max-uses 100',
  run: (input) =>
    Effect.gen(function* () {
      const code = yield* checked(NewCode, {
        name: input.words[0],
        code_type: optionOf(input, "type") ?? "Discount",
        redemption_code: optionOf(input, "code") ?? null,
        discount_as_percentage: numberOf(input, "percent"),
        discount_in_cents: numberOf(input, "cents"),
        max_uses: numberOf(input, "max-uses"),
        max_emojis_per_user: numberOf(input, "max-per-user"),
        start_date: optionOf(input, "start") ?? null,
        end_date: optionOf(input, "end") ?? null,
        organization_id: (yield* organizationOf(input)) ?? null,
      })
      return showWritten(yield* Codes.use((codes) => atMostOnce(codes.create(code))))
    }),
}

const remove: Command = {
  name: "codes delete",
  words: ["code_id"],
  summary: "Delete a code. Earlier uses stay valid",
  run: ({ words: [id = ""] }) =>
    Effect.map(
      Codes.use((codes) => atMostOnce(codes.delete(id))),
      showWritten,
    ),
}

export const codeCommands: ReadonlyArray<Command> = [list, create, remove]
