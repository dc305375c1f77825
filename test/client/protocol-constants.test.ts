import { expect, it } from "vitest"
import { closeCodes, liveLimits } from "../../schema/live-frames.ts"
import {
  burstFrames,
  framesPerSecond,
  isPublic,
  lookupIds,
  restartCode,
  tokenCodes,
} from "../../src/client/live/protocol-constants.ts"
import { channelKinds } from "../../src/live/channel-names.ts"

it("the client's constants are those of the protocol", () => {
  expect({ burstFrames, framesPerSecond, lookupIds }).toEqual({
    burstFrames: liveLimits.burstFrames,
    framesPerSecond: liveLimits.framesPerSecond,
    lookupIds: liveLimits.lookupIds,
  })
  expect(restartCode).toBe(closeCodes.restart)
  const { sessionEnded, tokenExpired, unauthorized } = closeCodes
  expect([...tokenCodes].toSorted()).toEqual([unauthorized, tokenExpired, sessionEnded])
})

it("the client requires no login for the channels that the service calls public", () => {
  const names = Object.keys(channelKinds)
  const publicNames = Object.entries(channelKinds).flatMap(([name, { who }]) =>
    who === "public" ? [name] : [],
  )
  const found = names.filter((name) => isPublic(name === "market" ? name : `${name}:x`))
  expect(found.toSorted()).toEqual(publicNames.toSorted())
})
