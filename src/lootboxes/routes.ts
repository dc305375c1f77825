import { Effect, Schema } from "effect"
import { Conflict, EventRefused, Forbidden, NotFound, Unprocessable } from "../../schema/errors.ts"
import {
  AdminNewLootBoxBody,
  AdminUpdateLootBoxBody,
  ListOfPublicLootBox,
  LootBoxStatus,
  PublicLootBox,
} from "../../schema/lootboxes/lootbox.ts"
import { paged, pageQuery, pageRequest } from "../../schema/paging.ts"
import { Uuid } from "../../schema/wire-format.ts"
import { route } from "../http/route.ts"
import { LootboxLists, lootboxList } from "./lootbox-store.ts"
import { LootboxViews, maySeeAllBoxes } from "./lootbox-view.ts"
import { Lootboxes } from "./lootboxes.ts"

const shared = { group: "lootboxes", auth: "JWT" } as const
const params = { id: Uuid }

const create = route({
  ...shared,
  id: "createLootbox",
  summary: "Create a lootbox. With status Used it is also opened",
  description:
    "For administrators: with given ids, which must be free. `Owned` and `Used` need an `owner_id`; `Used` also opens the box.",
  method: "post",
  path: "/lootboxes",
  scope: "adminLootbox:write",
  body: AdminNewLootBoxBody,
  success: PublicLootBox,
  errors: [Conflict, Unprocessable],
  handler: ({ body, principal }) => Lootboxes.use((boxes) => boxes.create(principal, body)),
})

const list = route({
  ...shared,
  id: "listLootboxes",
  summary: "List lootboxes",
  description:
    "Your own and those on sale; administrators list all. `owner_id` and `status` filter the list.",
  method: "get",
  path: "/lootboxes",
  scope: "lootbox:use",
  access: { own: true, others: "adminLootbox:read" },
  query: {
    ...pageQuery(lootboxList),
    owner_id: Schema.optionalKey(Uuid),
    status: Schema.optionalKey(LootBoxStatus),
  },
  success: ListOfPublicLootBox,
  errors: [],
  handler: ({ principal, query }) =>
    Effect.gen(function* () {
      const seesAll = maySeeAllBoxes(principal)
      const ownerId = query.owner_id?.toLowerCase()
      if (!seesAll && ownerId !== undefined && ownerId !== principal.userId) {
        return yield* new Forbidden({
          error: "To list the lootboxes of other users you need the scope adminLootbox:read.",
          details: { scope: "adminLootbox:read" },
        })
      }
      const page = yield* pageRequest(lootboxList, query)
      const visibleTo = seesAll ? undefined : principal.userId
      const filter = { status: query.status, ownerId, visibleTo }
      const found = yield* LootboxLists.use((lists) => lists.list(filter, page))
      const data = yield* LootboxViews.use((views) => views.show(principal, found.rows))
      return paged(lootboxList, page, found, data)
    }),
})

const show = route({
  ...shared,
  id: "showLootbox",
  summary: "Show a lootbox",
  description:
    "`yats`, its emoji ids, are hidden until the owner has opened it. Administrators always see them.",
  method: "get",
  path: "/lootboxes/:id",
  scope: "lootbox:use",
  access: { own: true, others: "adminLootbox:read" },
  params,
  success: PublicLootBox,
  errors: [NotFound],
  handler: ({ params: { id }, principal }) =>
    Lootboxes.use((boxes) => boxes.show(principal, id.toLowerCase())),
})

const update = route({
  ...shared,
  id: "updateLootbox",
  summary: "Change a lootbox. Status Used opens it; earlier statuses are refused",
  description:
    "For administrators. The status goes only forward: Draft, Available, Owned, Used. An earlier status is 409.",
  method: "patch",
  path: "/lootboxes/:id",
  scope: "adminLootbox:write",
  params,
  body: AdminUpdateLootBoxBody,
  success: PublicLootBox,
  errors: [Conflict, EventRefused, NotFound, Unprocessable],
  handler: ({ body, params: { id }, principal }) =>
    Lootboxes.use((boxes) => boxes.update(principal, id.toLowerCase(), body)),
})

const remove = route({
  ...shared,
  id: "deleteLootbox",
  summary: "Delete a lootbox without an owner",
  description: "For administrators. Its emoji ids become available again. An owned or used box is 409.",
  method: "del",
  path: "/lootboxes/:id",
  scope: "adminLootbox:write",
  params,
  success: PublicLootBox,
  errors: [Conflict, EventRefused, NotFound, Unprocessable],
  handler: ({ params: { id }, principal }) =>
    Lootboxes.use((boxes) => boxes.remove(principal, id.toLowerCase())),
})

const open = route({
  ...shared,
  id: "openLootbox",
  summary: "Open your lootbox",
  description:
    "You receive all of its emoji ids, or none if the answer is an error. It works once: a second attempt is 409.",
  method: "post",
  path: "/lootboxes/:id/open",
  scope: "lootbox:use",
  access: { own: true },
  params,
  success: PublicLootBox,
  errors: [Conflict, EventRefused, NotFound, Unprocessable],
  handler: ({ params: { id }, principal }) =>
    Lootboxes.use((boxes) => boxes.open(principal, id.toLowerCase())),
})

export const lootboxes = [create, list, show, update, remove, open] as const
