import { Deferred, Effect, Exit, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { ActorInstances } from "../../actors/actor-instances.ts"

const make = (mailboxLimit = 100_000) => new ActorInstances<never>({ maxCells: 10, mailboxLimit })

const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(effect)

/** Starts a turn that runs until the test releases it. `log` records when turns begin and end. */
const makeStage = Effect.gen(function* () {
  const cells = make()
  const log: Array<string> = []
  const gate = yield* Deferred.make<void>()
  const enter = (name: string, lasts: Effect.Effect<void, string> = Effect.void) =>
    cells.enter("one", () =>
      Effect.gen(function* () {
        log.push(`${name} begins`)
        yield* lasts
        log.push(`${name} ends`)
      }),
    )
  const held = yield* Effect.forkChild(enter("first", Deferred.await(gate)), { startImmediately: true })
  const letGo = Deferred.succeed(gate, undefined)
  return { cells, enter, held, letGo, log }
})

const begin = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(effect, { startImmediately: true })

describe("the turns of an entity", () => {
  it("run one at a time, in the order of arrival", () =>
    run(
      Effect.gen(function* () {
        const { cells, enter, letGo, log } = yield* makeStage
        const others = yield* Effect.forEach(["second", "third"], (name) => begin(enter(name)))
        expect([log, cells.waiting]).toEqual([["first begins"], 3])
        yield* letGo
        yield* Fiber.joinAll(others)
        expect(log).toEqual([
          "first begins",
          "first ends",
          "second begins",
          "second ends",
          "third begins",
          "third ends",
        ])
        expect(cells.waiting).toBe(0)
      }),
    ))

  it("do not wait for the turns of another entity", () =>
    run(
      Effect.gen(function* () {
        const { cells, letGo } = yield* makeStage
        expect(yield* cells.enter("two", () => Effect.succeed("done"))).toBe("done")
        yield* letGo
      }),
    ))

  it("continue after a turn that fails and a turn that crashes", () =>
    run(
      Effect.gen(function* () {
        const { cells, enter, held, letGo, log } = yield* makeStage
        const failing = yield* begin(Effect.exit(enter("failing", Effect.fail("no"))))
        const dying = yield* begin(Effect.exit(enter("dying", Effect.die("worse"))))
        const last = yield* begin(enter("last"))
        yield* letGo
        yield* Fiber.join(held)
        expect(Exit.isFailure(yield* Fiber.join(failing))).toBe(true)
        expect(Exit.isFailure(yield* Fiber.join(dying))).toBe(true)
        yield* Fiber.join(last)
        expect(log.slice(-4)).toEqual(["failing begins", "dying begins", "last begins", "last ends"])
        expect(cells.waiting).toBe(0)
      }),
    ))

  it("can be interrupted while they wait, and the next turn runs", () =>
    run(
      Effect.gen(function* () {
        const { cells, enter, letGo, log } = yield* makeStage
        const stopped = yield* begin(enter("stopped"))
        const next = yield* begin(enter("next"))
        yield* Fiber.interrupt(stopped)
        expect(cells.waiting).toBe(2)
        yield* letGo
        yield* Fiber.join(next)
        expect(log).toEqual(["first begins", "first ends", "next begins", "next ends"])
      }),
    ))

  it("are completed once they have started, even if the caller is interrupted", () =>
    run(
      Effect.gen(function* () {
        const { cells, held, letGo, log } = yield* makeStage
        const stopping = yield* begin(Fiber.interrupt(held))
        yield* letGo
        yield* Fiber.join(stopping)
        expect([log, cells.waiting]).toEqual([["first begins", "first ends"], 0])
        expect(yield* cells.enter("one", () => Effect.succeed("free again"))).toBe("free again")
      }),
    ))

  it("never run concurrently, even if a turn is interrupted just before it starts", () =>
    run(
      Effect.gen(function* () {
        const { cells, enter, held, letGo, log } = yield* makeStage
        const stopped = yield* begin(enter("stopped"))
        held.addObserver(() => stopped.interruptUnsafe())
        yield* letGo
        yield* Fiber.join(held)
        const gate = yield* Deferred.make<void>()
        const third = yield* begin(enter("third", Deferred.await(gate)))
        const fourth = yield* begin(enter("fourth"))
        yield* Effect.yieldNow
        expect(log.filter((line) => line.endsWith("begins"))).toEqual(["first begins", "third begins"])
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(third)
        yield* Fiber.join(fourth)
        expect(cells.waiting).toBe(0)
      }),
    ))

  it("do not overflow the stack when 20,000 waiting turns fail synchronously", () =>
    run(
      Effect.gen(function* () {
        const { cells, letGo } = yield* makeStage
        const refused = yield* Effect.forEach(Array(20_000).fill(0), () =>
          begin(Effect.exit(cells.enter("one", () => Effect.fail("refused")))),
        )
        yield* letGo
        const exits = yield* Fiber.joinAll(refused)
        expect(exits.every(Exit.isFailure)).toBe(true)
        expect(cells.waiting).toBe(0)
      }),
    ))
})
