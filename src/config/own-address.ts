import { Context, Deferred, Effect, Layer } from "effect"

/**
 * The address on which this process listens. Parts of the program that call the service over HTTP read `url`, which
 * waits until the server listens.
 */
export class OwnAddress extends Context.Service<
  OwnAddress,
  { listening(host: string, port: number): void; readonly url: Effect.Effect<string> }
>()("directory/OwnAddress") {
  static readonly layer = Layer.effect(
    OwnAddress,
    Effect.gen(function* () {
      const known = yield* Deferred.make<string>()
      return OwnAddress.of({
        listening: (host, port) => {
          const name = host === "0.0.0.0" || host === "::" || host === "" ? "127.0.0.1" : host
          Deferred.doneUnsafe(
            known,
            Effect.succeed(`http://${name.includes(":") ? `[${name}]` : name}:${port}`),
          )
        },
        url: Deferred.await(known),
      })
    }),
  )
}
