import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { LootboxActors } from "../../actors/lootbox.ts"
import { atMostOnce, unchanged, type Written } from "../../actors/operation.ts"
import {
  Conflict,
  Forbidden,
  fieldFault,
  NotFound,
  type Unavailable,
  type Unprocessable,
} from "../../schema/errors.ts"
import {
  type AdminNewLootBoxBody,
  type AdminUpdateLootBoxBody,
  type LootBoxStatus,
  lootboxKey,
} from "../../schema/lootboxes/lootbox.ts"
import type { BoxedId, LootboxContext, LootboxInput } from "../../schema/lootboxes/lootbox-snapshot.ts"
import { Parties } from "../accounts/party-store.ts"
import type { Principal } from "../http/principal.ts"
import { DefaultPubkeys } from "../keys/default-pubkey.ts"
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
const absent = () => new NotFound({ error: "Lootbox not found." })
const readsAtOnce = 8
const isBoxKey = (canonical: string) => canonical.startsWith("lootbox:")

/**
 * Creates the error for claims that failed. If an order holds the lootbox, the request can be repeated later. If ids
 * are not free, they must be removed from the request.
 */
const idsTakenProblem = (canonicals: ReadonlyArray<string>) =>
  canonicals.some(isBoxKey)
    ? new Conflict({
        error: "An order currently holds this lootbox. Try again after the order is paid or cancelled.",
      })
    : fieldFault("yats", "eligibility", `These emoji ids are not available: ${canonicals.join(", ")}.`)

const make = Effect.gen(function* () {
  const actors = yield* LootboxActors
  const keys = yield* DefaultPubkeys
  const parties = yield* Parties
  const views = yield* LootboxViews
  const findOwner = makeFindBoxOwner(parties)

  const turn = (
    id: string,
    decide: Parameters<typeof actors.turn<Refusal, never>>[1],
    options?: Parameters<typeof actors.turn<Refusal, never, LootboxRow>>[2],
  ) =>
    actors.turn(id, decide, options).pipe(
      Effect.catchTag("IdsTaken", ({ canonicals }) => Effect.fail(idsTakenProblem(canonicals))),
      // If the lootbox's owner already owns one of its ids, the claim succeeds, because a claim of the same holder
      // may be repeated. The second registration of the id then fails.
      Effect.catchTag("UniqueConflict", () =>
        Effect.fail(fieldFault("yats", "eligibility", "The owner already owns an emoji id of this lootbox.")),
      ),
      // For a lootbox, `LimitReached` has only one cause: the account of the owner was deleted.
      Effect.catchTag("LimitReached", () =>
        Effect.fail(fieldFault("owner_id", "unknown", "The owner's account was deleted.")),
      ),
    )

  /** Runs the turn that completes the request: the lootbox is also stored with the Idempotency-Key. */
  const complete = (
    id: string,
    decide: Parameters<typeof turn>[1],
    options: { readonly create?: LootboxInput } = {},
  ) => Effect.map(turn(id, decide, { ...options, outcome: rowOf }), ({ written }) => written)

  const show = Effect.fnUntraced(function* (viewer: Principal, row: LootboxRow) {
    const [box] = yield* views.show(viewer, [row])
    return box!
  })
  const changed = <E>(viewer: Principal, change: Effect.Effect<Written<LootboxRow>, E>) =>
    Effect.flatMap(atMostOnce(change), (row) => show(viewer, row))

  const find = Effect.fnUntraced(function* (id: string) {
    const loaded = yield* actors.find(id)
    return loaded === undefined || loaded.snapshot.value === "Deleted" ? undefined : loaded.snapshot
  })

  const keyOf = (ownerId: string | null, to: LootBoxStatus) =>
    ownerId === null || to !== "Used" ? Effect.succeed(null) : keys.of(ownerId)

  /** Creates a lootbox and claims the ids in it. If the lootbox with this id exists already, it is returned. */
  const put = Effect.fnUntraced(function* (
    ids: ReadonlyArray<BoxedId>,
    status: LootBoxStatus,
    facts: { readonly ownerId?: string | null; readonly id?: string },
  ) {
    const ownerId = facts.ownerId ?? null
    const pubkey = yield* keyOf(ownerId, status)
    const input = { id: facts.id ?? randomUUID(), typeId: null, ids }
    return yield* complete(
      input.id,
      (_, now) => Effect.succeed({ type: "CREATE", now, to: status, ids, ownerId, pubkey } as const),
      { create: input },
    ).pipe(
      Effect.catchTag("EventRefused", (refused) =>
        Effect.flatMap(actors.find(input.id), (made) =>
          made === undefined ? Effect.die(refused) : Effect.succeed(unchanged(rowOf(made.snapshot))),
        ),
      ),
      Effect.catchTag("NotFound", Effect.die),
    )
  })

  /**
   * Creates lootboxes with status Draft, all or none, with one statement. Fails with `IdsTaken` if an id is not free.
   * Returns the ids of the lootboxes.
   */
  const putDrafts = (typeId: string, [first, ...others]: ReadonlyArray<ReadonlyArray<BoxedId>>) => {
    const inputOf = (ids: ReadonlyArray<BoxedId>) => ({ id: randomUUID(), typeId, ids })
    const own = inputOf(first ?? [])
    const joined = others.map(inputOf)
    let at = 0
    const eventOf = ({ ids }: LootboxInput) =>
      ({ type: "CREATE", now: at, to: "Draft", ids, ownerId: null, pubkey: null }) as const
    const decide = (now: number) => {
      at = now
      return Effect.succeed(eventOf(own))
    }
    return actors
      .turn(own.id, (_, now) => decide(now), {
        create: own,
        also: () => ({
          joined: joined.map((create) => ({
            entity: "lootbox" as const,
            id: create.id,
            event: eventOf(create),
            create,
            claim: lootboxKey(create.id),
          })),
        }),
        outcome: () => [own, ...joined].map(({ id }) => id),
      })
      .pipe(
        Effect.map(({ written }) => written),
        Effect.catchTag(["EventRefused", "LimitReached", "NotFound", "UniqueConflict"], Effect.die),
      )
  }

  const create = Effect.fnUntraced(function* (body: AdminNewLootBoxBody) {
    const request = {
      status: body.status,
      yats: body.yats,
      ownerEmail: body.owner_email ?? undefined,
      ownerId: body.owner_id ?? undefined,
      isOwned: false,
      ids: [],
    }
    yield* checkLootboxRequest(request)
    return yield* put(boxed(body.yats), body.status, { ownerId: yield* findOwner(request) })
  })

  const update = (id: string, body: AdminUpdateLootBoxBody) => {
    const yats = body.yats ?? undefined
    const names = { ownerEmail: body.owner_email ?? undefined, ownerId: body.owner_id ?? undefined }
    return complete(id, ({ snapshot: { context, value } }, now) =>
      Effect.gen(function* () {
        if (value === "Deleted" || value === "New") return yield* absent()
        const to = body.status ?? value
        const request = { status: to, yats, ...names, isOwned: context.ownerId !== null, ids: context.ids }
        yield* checkLootboxRequest(request)
        const ownerId = (yield* findOwner(request)) ?? context.ownerId
        const ids = yats === undefined ? context.ids : boxed(yats)
        const pubkey = yield* keyOf(ownerId, to)
        // The only possible change of an owned lootbox is that it is opened. The machine refuses all other changes.
        if (value === "Owned" && to === "Used" && pubkey !== null && yats === undefined) {
          if (ownerId === context.ownerId) return { type: "OPEN", now, pubkey } as const
        }
        return { type: "REVISE", now, to, ids, ownerId, pubkey } as const
      }),
    )
  }

  const open = (viewer: Principal, id: string) =>
    complete(id, ({ snapshot: { context, value } }, now) =>
      Effect.gen(function* () {
        if (value === "Deleted") return yield* absent()
        if (context.ownerId !== viewer.userId) {
          if (!maySeeBox(viewer, rowOf({ context, value }))) return yield* absent()
          return yield* new Forbidden({ error: "Only the owner of this lootbox can open it." })
        }
        // In any other state the machine refuses the event. So a key is created only for an owned lootbox.
        const pubkey = value === "Owned" ? yield* keys.of(viewer.userId) : ""
        return { type: "OPEN", now, pubkey } as const
      }),
    )

  /** Makes the buyer the owner of a lootbox that is paid. A repeated call for the same order has no effect. */
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
    put,
    putDrafts,
    sell,
    /** The requests that change a lootbox. Each returns the response. */
    create: (viewer: Principal, body: AdminNewLootBoxBody) => changed(viewer, create(body)),
    update: (viewer: Principal, id: string, body: AdminUpdateLootBoxBody) =>
      changed(viewer, update(id, body)),
    open: (viewer: Principal, id: string) => changed(viewer, open(viewer, id)),
    remove: (viewer: Principal, id: string) =>
      changed(
        viewer,
        complete(id, ({ snapshot: { value } }, now) =>
          value === "Deleted" ? Effect.fail(absent()) : Effect.succeed({ type: "DELETE", now } as const),
        ),
      ),
    show: Effect.fnUntraced(function* (viewer: Principal, id: string) {
      const snapshot = yield* find(id)
      if (snapshot === undefined || !maySeeBox(viewer, rowOf(snapshot))) return yield* absent()
      return yield* show(viewer, rowOf(snapshot))
    }),
    /** Returns those of the lootboxes that exist, in the given order. */
    findMany: (ids: ReadonlyArray<string>) =>
      Effect.map(Effect.forEach(ids, find, { concurrency: readsAtOnce }), (found) =>
        found.filter((snapshot) => snapshot !== undefined).map(rowOf),
      ),
    /** Whether the contents of the lootbox were changed after the time `at`, while it was on sale. */
    isRevisedSince: Effect.fnUntraced(function* (id: string, at: string) {
      const revisedAt = (yield* find(id))?.context.revisedAt
      return revisedAt != null && Date.parse(revisedAt) > Date.parse(at)
    }),
    /** Returns the order that bought the lootbox, with the current owner and status. Undefined if it was deleted. */
    findSale: Effect.fnUntraced(function* (id: string) {
      const snapshot = yield* find(id)
      if (snapshot === undefined) return undefined
      const { orderId, ownerId } = snapshot.context
      return { orderId, ownerId, status: rowOf(snapshot).status }
    }),
    /**
     * Returns the price of a lootbox, or undefined if it is not on sale. To hold the lootbox, an order claims its
     * `lootboxKey`.
     */
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
