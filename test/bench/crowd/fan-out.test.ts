import uWS from "uWebSockets.js"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { Crowd } from "../../../bench/crowd/crowd.ts"
import { runFanOut } from "../../../bench/crowd/fan-out.ts"
import { runReconnectStorm } from "../../../bench/crowd/reconnect-storm.ts"
import { buildRequest } from "../../../bench/load/request.ts"
import { machineMs } from "../../../bench/machine-clock.ts"
import { PublishEndpoint } from "../../../bench/publish-endpoint.ts"
import { fanOutOne } from "../../../bench/scenarios/fan-out.ts"
import { barePublish, liveCommits, type RunningServer } from "../../../bench/side.ts"
import { inTime } from "../../fixtures/suite/patience.ts"

const plan = { connections: 60, warmupSeconds: 0.1, durationSeconds: 0.3, timeoutSeconds: 30 }

let server: RunningServer
beforeAll(async () => {
  server = await barePublish().start()
})
afterAll(() => server.stop())

const listenTo = (channels: number) => ({
  path: "/live",
  hello: (socket: number) => [`c${socket % channels}`],
  helloAnswers: 1,
})

/** Repeats the run with longer and longer durations until more than `least` operations complete. */
const measure = <Run extends { readonly completed: number }>(
  least: number,
  run: (longer: typeof plan) => Promise<Run>,
): Promise<Run> =>
  inTime(plan.durationSeconds, async (durationSeconds) => {
    const done = await run({ ...plan, durationSeconds })
    return done.completed > least ? done : undefined
  })

describe("the WebSocket clients of the bench", () => {
  it.each([1, 7])("receive every frame that is published, with %i channel(s)", async (channels) => {
    const triggers = Array.from({ length: channels }, (_, i) =>
      buildRequest(server.target, { method: "POST", path: `/publish/c${i}` }),
    )
    const fanOut = {
      ...listenTo(channels),
      channels,
      publishers: 2,
      trigger: (round: number) => triggers[round % channels]!,
    }
    const run = await measure(60, (longer) => runFanOut(server.target, fanOut, longer, server.pid))
    expect(run.errors).toEqual({})
    expect(run.completed).toBeGreaterThan(60)
    expect(run.server?.rssMb).toBeGreaterThan(1)
  })

  it("receive every event that the service commits", async () => {
    if (!("fanOut" in fanOutOne)) throw new Error("expected a fan-out scenario")
    const service = await liveCommits().start()
    onTestFinished(() => service.stop())
    const fanOut = fanOutOne.fanOut(service.target, undefined, plan.connections)
    const run = await measure(60, (longer) => runFanOut(service.target, fanOut, longer, service.pid))
    expect(run.errors).toEqual({})
    expect(run.completed).toBeGreaterThan(60)
  })

  it("measure the delivery time of a frame from the time of its commit", async () => {
    const app = uWS.App().ws("/live", {
      message: (socket, message) => {
        socket.subscribe(Buffer.from(message).toString())
        socket.send("subscribed")
      },
    })
    new PublishEndpoint(app, (channels) => {
      for (const channel of channels) app.publish(channel, "event")
      return machineMs() - 10_000
    })
    const port = await new Promise<number>((listening) =>
      app.listen("127.0.0.1", 0, (socket) => listening(socket ? uWS.us_socket_local_port(socket) : 0)),
    )
    onTestFinished(() => void app.close())
    const target = { ...server.target, port }
    const trigger = buildRequest(target, { method: "POST", path: "/publish/c0" })
    const fanOut = { ...listenTo(1), channels: 1, publishers: 1, trigger: () => trigger }
    const run = await measure(0, (longer) => runFanOut(target, fanOut, longer, undefined))
    expect(run.errors).toEqual({})
    expect(run.latency.p50Ms).toBeGreaterThanOrEqual(10_000)
  })

  it("report a timeout if a published frame does not arrive", async () => {
    const trigger = buildRequest(server.target, { method: "POST", path: "/publish/unused" })
    const fanOut = { ...listenTo(1), channels: 1, publishers: 1, trigger: () => trigger }
    const run = await runFanOut(server.target, fanOut, { ...plan, timeoutSeconds: 0.2 }, server.pid)
    expect(run.completed).toBe(0)
    expect(run.errors["timeout"]).toBeGreaterThan(0)
  })

  it("all disconnect and reconnect at the same time without errors", async () => {
    const run = await measure(0, (longer) =>
      runReconnectStorm(server.target, listenTo(1), longer, server.pid),
    )
    expect(run.errors).toEqual({})
    expect(run.completed % plan.connections).toBe(0)
    expect(run.completed).toBeGreaterThan(0)
  })

  it("count the connections that the server rejects", async () => {
    const crowd = new Crowd(5, server.target, { ...listenTo(1), path: "/elsewhere" }, () => {})
    expect(await crowd.join(5)).toBe(false)
    expect(crowd.ready).toBe(0)
    expect(Object.values(crowd.errors)).toEqual([5])
    crowd.leave()
  })
})
