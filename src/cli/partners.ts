import { Effect } from "effect"
import { NotFound } from "../../schema/errors.ts"
import type { Organization } from "../../schema/organizations/organization.ts"
import { isPartnerLink } from "../../schema/web-link.ts"
import { AppConfig, type Config } from "../config/read-config.ts"
import { CodeBudgets } from "../organizations/code-budget-store.ts"
import { Members } from "../organizations/member-store.ts"
import { Organizations } from "../organizations/organization-store.ts"
import { type Command, everyPage, organizationId } from "./command-line/command.ts"

type Partner = typeof Organization.Type & { readonly partner_path: string }

const isPartner = (one: typeof Organization.Type): one is Partner => one.partner_path !== undefined

const readPartners = Organizations.use((organizations) =>
  everyPage({ dir: "Asc", sort: "name" }, (page) => organizations.list(undefined, page)),
).pipe(Effect.map((found) => found.filter(isPartner)))

/** The pages of the three partner flows, to which a partner sends its users. */
const pagesOf = (webUrl: string, { partner_path }: Partner) => {
  const home = `${webUrl}/partner/${encodeURIComponent(partner_path)}`
  return { create: home, connect: `${home}/link-email`, manage: `${home}/manage` }
}

/** Why users do not return from the flows with a login. */
const problemOf = ({ return_link }: Partner, config: Config): string => {
  if (return_link === undefined) return "no return link: the flows cannot end"
  return isPartnerLink(return_link, config) ? "" : "return link without https: it gets no refresh token"
}

const list: Command = {
  name: "partners list",
  words: [],
  summary: "List the organizations that have a partner path, with their return links",
  run: () =>
    Effect.gen(function* () {
      const config = yield* AppConfig
      return (yield* readPartners).map((partner) => ({
        partner: partner.partner_path,
        name: partner.name,
        return_link: partner.return_link ?? "",
        problem: problemOf(partner, config),
      }))
    }),
}

const show: Command = {
  name: "partners show",
  words: ["partner"],
  summary: "Show a partner: the addresses of its flows, return link, fees, budget for codes, and members",
  run: ({ words: [name = ""] }) =>
    Effect.gen(function* () {
      const id = yield* organizationId(name)
      const partner = (yield* readPartners).find((one) => one.id === id)
      if (partner === undefined)
        return yield* new NotFound({ error: `Not a partner: ${name} has no partner path.` })
      const config = yield* AppConfig
      const members = yield* everyPage({ dir: "Asc", sort: "only" }, (page) =>
        Members.use((all) => all.list(id, page)),
      )
      const { budget_in_cents, used_in_cents } = yield* CodeBudgets.use((budgets) => budgets.get(id))
      const problem = problemOf(partner, config)
      return {
        ...partner,
        ...pagesOf(config.webUrl, partner),
        budget_in_cents,
        used_in_cents,
        members: members.map((member) => `${member.email ?? member.user_id} (${member.role})`),
        ...(problem === "" ? {} : { problem }),
      }
    }),
}

export const partnerCommands: ReadonlyArray<Command> = [list, show]
