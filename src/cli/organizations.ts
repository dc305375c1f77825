import { Effect } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { SetCodeBudget } from "../../schema/organizations/code-budget.ts"
import {
  NewOrganization,
  OrganizationRole,
  UpdateOrganization,
} from "../../schema/organizations/organization.ts"
import { CodeBudgets } from "../organizations/code-budget-store.ts"
import { Members } from "../organizations/member-store.ts"
import { Organizations } from "../organizations/organization-store.ts"
import { viewOf } from "../organizations/written-view.ts"
import {
  type Command,
  checked,
  checkedWord,
  everyPage,
  type Input,
  numberOf,
  optionOf,
  organizationId,
  trustedUserId,
  userId,
} from "./command-line/command.ts"

const factsOf = (input: Input) => ({
  partner_path: optionOf(input, "partner-path") ?? null,
  return_link: optionOf(input, "return-link") ?? null,
  client_fee_basis_points: numberOf(input, "client-fee"),
  company_fee_basis_points: numberOf(input, "company-fee"),
})

const factOptions = ["partner-path", "return-link", "client-fee", "company-fee"]

const list: Command = {
  name: "organizations list",
  words: [],
  summary: "List all organizations",
  run: () =>
    Organizations.use((organizations) =>
      everyPage({ dir: "Asc", sort: "name" }, (page) => organizations.list(undefined, page)),
    ).pipe(
      Effect.map((found) =>
        found.map(({ id, name, partner_path = "", return_link = "" }) => ({
          id,
          name,
          partner_path,
          return_link,
        })),
      ),
    ),
}

const create: Command = {
  name: "organizations create",
  words: ["name"],
  options: factOptions,
  summary: "Create an organization with its partner path, return link and fees (in hundredths of a percent)",
  run: (input) =>
    Effect.gen(function* () {
      const facts = yield* checked(NewOrganization, { name: input.words[0], ...factsOf(input) })
      const { outcome } = yield* Organizations.use((organizations) => organizations.create(facts))
      return viewOf(outcome)
    }),
}

const update: Command = {
  name: "organizations update",
  words: ["organization"],
  options: ["name", ...factOptions],
  summary: "Change an organization",
  run: (input) =>
    Effect.gen(function* () {
      const id = yield* organizationId(input.words[0] ?? "")
      const changes = yield* checked(UpdateOrganization, {
        name: optionOf(input, "name") ?? null,
        ...factsOf(input),
      })
      const organizations = yield* Organizations
      const { outcome } = yield* organizations.update(id, changes)
      return yield* organizations.changed(outcome)
    }),
}

const remove: Command = {
  name: "organizations delete",
  words: ["organization"],
  summary: "Delete an organization that has no keys and no active codes",
  run: ({ words: [organization = ""] }) =>
    organizationId(organization).pipe(
      Effect.flatMap((id) =>
        Organizations.use((organizations) =>
          Effect.flatMap(atMostOnce(organizations.remove(id)), organizations.removed),
        ),
      ),
    ),
}

const budget: Command = {
  name: "organizations budget",
  words: ["organization"],
  options: ["cents"],
  summary: "Show how many cents the codes of an organization may discount, or set it with --cents",
  run: (input) =>
    Effect.gen(function* () {
      const id = yield* organizationId(input.words[0] ?? "")
      const budgets = yield* CodeBudgets
      const cents = numberOf(input, "cents")
      if (cents === null) return yield* budgets.get(id)
      const { budget_in_cents } = yield* checked(SetCodeBudget, { budget_in_cents: cents })
      return viewOf((yield* budgets.set(id, budget_in_cents)).outcome)
    }),
}

const listMembers: Command = {
  name: "members list",
  words: ["organization"],
  summary: "List the members of an organization",
  run: ({ words: [organization = ""] }) =>
    Effect.flatMap(organizationId(organization), (id) =>
      everyPage({ dir: "Asc", sort: "only" }, (page) => Members.use((members) => members.list(id, page))),
    ),
}

const setMember: Command = {
  name: "members set",
  words: ["organization", "user", "role"],
  summary: "Add a member or change their role: OrgOwner, OrgController or OrgMember",
  run: ({ words: [organization = "", user = "", role] }) =>
    Effect.gen(function* () {
      const wanted = yield* checkedWord("role", OrganizationRole.literals, role)
      const [id, member] = [yield* organizationId(organization), yield* trustedUserId(user)]
      const members = yield* Members
      const { outcome } = yield* members.put(id, member, wanted, true)
      yield* members.changed(outcome)
      return outcome.rows[0]!.view
    }),
}

const removeMember: Command = {
  name: "members remove",
  words: ["organization", "user"],
  summary: "Remove a member from an organization",
  run: ({ words: [organization = "", user = ""] }) =>
    Effect.gen(function* () {
      const [id, member] = [yield* organizationId(organization), yield* userId(user)]
      const members = yield* Members
      const { outcome } = yield* members.remove(id, member, true)
      yield* members.changed(outcome)
      return { removed: member }
    }),
}

export const organizationCommands: ReadonlyArray<Command> = [
  list,
  create,
  update,
  remove,
  budget,
  listMembers,
  setMember,
  removeMember,
]
