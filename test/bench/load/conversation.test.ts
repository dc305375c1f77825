import { describe, expect, it } from "vitest"
import { converse, type Talk } from "../../../bench/load/conversation.ts"

const say = (text: string, status?: number) => ({
  request: Buffer.from(text),
  ...(status === undefined ? {} : { status }),
})
const answer = (status: number, text = "") => ({ status, body: Buffer.from(text) })

const greet = () =>
  converse(function* (connection): Talk {
    yield say(`hello ${connection}`)
    for (;;) {
      const answer = yield say("name?", 200)
      yield say(`welcome ${JSON.parse(answer.body.toString())}`, 201)
    }
  })

describe("a scripted conversation with the server", () => {
  it("builds the next request of each connection from the last response on that connection", () => {
    const { source, judge } = greet()
    expect(source(1).toString()).toBe("hello 1")
    expect(source(2).toString()).toBe("hello 2")
    expect(judge?.(answer(404), 1)).toBeUndefined()
    expect(source(1).toString()).toBe("name?")
    expect(judge?.(answer(200, '"Ada"'), 1)).toBeUndefined()
    expect(source(1).toString()).toBe("welcome Ada")
    expect(judge?.(answer(201), 1)).toBeUndefined()
    expect(source(1).toString()).toBe("name?")
  })

  it("starts again from its first request after an unexpected, an unreadable or a missing response", () => {
    const { source, judge } = greet()
    const untilName = () => {
      expect(source(1).toString()).toBe("hello 1")
      judge?.(answer(200), 1)
      source(1)
    }
    untilName()
    expect(judge?.(answer(500), 1)).toBe("status 500")
    untilName()
    expect(judge?.(answer(200, "no json"), 1)).toBe("body")
    untilName()
    expect(source(1).toString()).toBe("hello 1")
  })
})
