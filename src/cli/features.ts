import { Effect } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { NewFeature } from "../../schema/accounts/feature.ts"
import { NotFound } from "../../schema/errors.ts"
import { Features } from "../accounts/feature-store.ts"
import { type Command, checked, userId } from "./command-line/command.ts"

const findFeature = Effect.fnUntraced(function* (code: string) {
  const all = yield* Features.use((features) => features.all)
  const found = all.find((feature) => feature.code === code)
  return found ?? (yield* new NotFound({ error: `Feature not found: ${code}` }))
})

const list: Command = {
  name: "features list",
  words: [],
  summary: "List all features",
  run: () => Features.use((features) => features.all),
}

const create: Command = {
  name: "features create",
  words: ["code", "description"],
  summary: "Create a feature that can be assigned to users",
  run: ({ words: [code, description] }) =>
    Effect.flatMap(checked(NewFeature, { code, description }), (feature) =>
      Effect.map(
        Features.use((features) => atMostOnce(features.create(feature.code, feature.description ?? ""))),
        ({ rows }) => rows[0]!,
      ),
    ),
}

const change = (name: "assign" | "unassign", summary: string): Command => ({
  name: `features ${name}`,
  words: ["user", "code"],
  summary,
  run: ({ words: [user = "", code = ""] }) =>
    Effect.gen(function* () {
      const [id, feature] = [yield* userId(user), yield* findFeature(code)]
      const { rows } = yield* Features.use((features) => atMostOnce(features[name](id, feature.id)))
      return rows[0]!
    }),
})

export const featureCommands: ReadonlyArray<Command> = [
  list,
  create,
  change("assign", "Assign a feature to a user"),
  change("unassign", "Remove a feature from a user"),
]
