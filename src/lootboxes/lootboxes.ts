import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { LootboxActors } from "../../actors/lootbox.ts"
import type { BoxedId } from "../../machines/lootboxes/effects.ts"
import type { LootboxContext } from "../../machines/lootboxes/lootbox.ts"
import {
  Conflict,
  Forbidden,
  fieldFault,
  NotFound,
  type Unavailable,
  type Unprocessable,
} from "../../schema/errors.ts"
import type {
  AdminNewLootBoxBody,
  AdminUpdateLootBoxBody,
  LootBoxStatus,
} from "../../schema/lootboxes/lootbox.ts"
import { Parties } from "../accounts/party-store.ts"
import type { Principal } from "../http/principal.ts"
import { DefaultPubkeys } from "../keys/default-pubkey.ts"
import { isForgotten, uuidOf } from "../turns/operation-key.ts"
import type { LootboxRow } from "./lootbox-store.ts"
import { LootboxViews, maySeeBox } from "./lootbox-view.ts"
import { boxed, checkLootboxRequest, makeFindBoxOwner } from "./rules.ts"

interface Snapshot {
  readonly value: unknown
  readonly context: LootboxContext
}
const rowOf = ({ context, value }: Snapshot): LootboxRow => ({
  context,
  status: value === "Deleted" ? (context.deletedFrom ?? "Draft") : (value as LootBoxStatus),
})
type Refusal = Forbidden | NotFound | Unavailable | Unprocessable
const absent = () => new NotFound({ error: "There is no such lootbox." })
const isBoxKey = (canonical: string) => canonical.startsWith("lootbox:")

/** Ids of the box that others hold are the request's fault; a box an order holds is a matter of waiting. */
const refuseTaken = (canonicals: ReadonlyArray<string>) =>
  canonicals.some(isBoxKey)
    ? new Conflict({ error: "Somebody is buying this box." })
    : fieldFault("yats", "eligibility", `Taken: ${canonicals.join(", ")}.`)

const make = Effect.gen(function* () {
  const actors = yield* LootboxActors
  const keys = yield* DefaultPubkeys
  const parties = yield* Parties
  const views = yield* LootboxViews
  const findOwner = makeFindBoxOwner(parties)

  const turn = (
    id: string,
    decide: Parameters<typeof actors.turn<Refusal, never>>[1],
    options?: Parameters<typeof actors.turn<Refusal, never>>[2],
  ) =>
    actors.turn(id, decide, options).pipe(
      Effect.catchTag("IdsTaken", ({ canonicals }) => Effect.fail(refuseTaken(canonicals))),
      // The claim of an id allows its own holder to take it again; that an id is registered once does not.
      Effect.catchTag("UniqueConflict", () =>
        Effect.fail(fieldFault("yats", "eligibility", "The owner has an id of this box already.")),
      ),
      // Of a box that can only be that its owner was deleted.
      Effect.catchTag("LimitReached", () =>
        Effect.fail(fieldFault("owner_id", "unknown", "The account of the owner was deleted.")),
      ),
    )

  const show = Effect.fnUntraced(function* (viewer: Principal, row: LootboxRow) {
    const [box] = yield* views.show(viewer, [row])
    return box!
  })
  const view = (viewer: Principal, snapshot: Snapshot) => show(viewer, rowOf(snapshot))

  const find = Effect.fnUntraced(function* (id: string) {
    const loaded = yield* actors.find(id)
    return loaded === undefined || loaded.snapshot.value === "Deleted" ? undefined : loaded.snapshot
  })

  const keyOf = (ownerId: string | null, to: LootBoxStatus) =>
    ownerId === null || to !== "Used" ? Effect.succeed(null) : keys.of(ownerId)

  /** The box a request by this name has made, or the id it is to make one under: a name is used anew after its day. */
  const findMade = Effect.fnUntraced(function* (run: string | undefined) {
    for (let id = run; id !== undefined; ) {
      const made = (yield* actors.find(id))?.snapshot
      if (made === undefined || !isForgotten(made.context.createdAt, actors.now())) {
        return { id, made: made && rowOf(made) }
      }
      id = uuidOf(id, made.context.createdAt)
    }
    return { id: randomUUID(), made: undefined }
  })

  /** A new box. Its ids are out of everybody else's reach from here on. */
  const put = Effect.fnUntraced(function* (
    ids: ReadonlyArray<BoxedId>,
    status: LootBoxStatus,
    facts: { readonly ownerId?: string | null; readonly typeId?: string; readonly id?: string },
  ) {
    const ownerId = facts.ownerId ?? null
    const pubkey = yield* keyOf(ownerId, status)
    const input = { id: facts.id ?? randomUUID(), typeId: facts.typeId ?? null, ids }
    const { snapshot } = yield* turn(
      input.id,
      (_, now) => Effect.succeed({ type: "CREATE", now, to: status, ids, ownerId, pubkey } as const),
      { create: input },
    ).pipe(
      // The same request, sent again while it was still running, has made it meanwhile.
      Effect.catchTag("EventRefused", (refused) =>
        Effect.flatMap(actors.find(input.id), (made) =>
          made === undefined ? Effect.die(refused) : Effect.succeed(made),
        ),
      ),
      Effect.catchTag("NotFound", Effect.die),
    )
    return rowOf(snapshot)
  })

  /** The same `run` twice is one box. */
  const create = Effect.fnUntraced(function* (viewer: Principal, body: AdminNewLootBoxBody, run?: string) {
    const { id, made } = yield* findMade(run)
    if (made !== undefined) return yield* show(viewer, made)
    const request = {
      status: body.status,
      yats: body.yats,
      ownerEmail: body.owner_email ?? undefined,
      ownerId: body.owner_id ?? undefined,
      isOwned: false,
      ids: [],
    }
    yield* checkLootboxRequest(request)
    const row = yield* put(boxed(body.yats), body.status, { id, ownerId: yield* findOwner(request) })
    return yield* show(viewer, row)
  })

  const update = Effect.fnUntraced(function* (viewer: Principal, id: string, body: AdminUpdateLootBoxBody) {
    const yats = body.yats ?? undefined
    const names = { ownerEmail: body.owner_email ?? undefined, ownerId: body.owner_id ?? undefined }
    const { snapshot } = yield* turn(id, ({ snapshot: { context, value } }, now) =>
      Effect.gen(function* () {
        if (value === "Deleted" || value === "New") return yield* absent()
        const to = body.status ?? value
        const request = { status: to, yats, ...names, isOwned: context.ownerId !== null, ids: context.ids }
        yield* checkLootboxRequest(request)
        const ownerId = (yield* findOwner(request)) ?? context.ownerId
        const ids = yats === undefined ? context.ids : boxed(yats)
        const pubkey = yield* keyOf(ownerId, to)
        // Whoever owns a box and what is in it is settled then; all that is left is to open it.
        if (value === "Owned" && to === "Used" && pubkey !== null && yats === undefined) {
          if (ownerId === context.ownerId) return { type: "OPEN", now, pubkey } as const
        }
        return { type: "REVISE", now, to, ids, ownerId, pubkey } as const
      }),
    )
    return yield* view(viewer, snapshot)
  })

  const open = Effect.fnUntraced(function* (viewer: Principal, id: string) {
    const { snapshot } = yield* turn(id, ({ snapshot: { context, value } }, now) =>
      Effect.gen(function* () {
        if (context.ownerId !== viewer.userId) {
          if (value === "Deleted" || !maySeeBox(viewer, rowOf({ context, value }))) return yield* absent()
          return yield* new Forbidden({ error: "Only its owner opens a lootbox." })
        }
        // Opened already: the machine refuses, and no key needs to be made for that.
        const pubkey = value === "Owned" ? yield* keys.of(viewer.userId) : ""
        return { type: "OPEN", now, pubkey } as const
      }),
    )
    return yield* view(viewer, snapshot)
  })

  /** Hands a paid box to its buyer. Safe to repeat: a box sold to this order stays sold to it. */
  const sell = Effect.fnUntraced(function* (id: string, orderId: string, buyerId: string) {
    const sold = (context: LootboxContext) => context.orderId === orderId && context.ownerId === buyerId
    const known = yield* find(id)
    if (known !== undefined && sold(known.context)) return
    yield* turn(id, (_, now) => Effect.succeed({ type: "BUY", now, orderId, buyerId } as const)).pipe(
      Effect.catchTag("EventRefused", (refused) =>
        Effect.flatMap(find(id), (now) =>
          now !== undefined && sold(now.context) ? Effect.void : Effect.fail(refused),
        ),
      ),
    )
  })

  return {
    findMade,
    put,
    create,
    update,
    open,
    sell,
    remove: Effect.fnUntraced(function* (viewer: Principal, id: string) {
      const { snapshot } = yield* turn(id, ({ snapshot: { value } }, now) =>
        value === "Deleted" ? Effect.fail(absent()) : Effect.succeed({ type: "DELETE", now } as const),
      )
      return yield* view(viewer, snapshot)
    }),
    show: Effect.fnUntraced(function* (viewer: Principal, id: string) {
      const snapshot = yield* find(id)
      if (snapshot === undefined || !maySeeBox(viewer, rowOf(snapshot))) return yield* absent()
      return yield* view(viewer, snapshot)
    }),
    /** Whether it holds something else than it did at that time, when it was on sale. */
    isRevisedSince: Effect.fnUntraced(function* (id: string, at: string) {
      const revisedAt = (yield* find(id))?.context.revisedAt
      return revisedAt != null && Date.parse(revisedAt) > Date.parse(at)
    }),
    /** A box on sale and its price; an order claims its `lootboxKey` to hold it. */
    findOffer: Effect.fnUntraced(function* (id: string) {
      const snapshot = yield* find(id)
      if (snapshot?.value !== "Available") return undefined
      return { id, priceCents: yield* views.priceInCents(rowOf(snapshot)) }
    }),
  }
})

export class Lootboxes extends Context.Service<Lootboxes, Effect.Success<typeof make>>()(
  "directory/Lootboxes",
) {
  static readonly layer = Layer.effect(Lootboxes, make)
}
