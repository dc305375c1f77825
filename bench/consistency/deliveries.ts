import type { CrowdPlan } from "../crowd/crowd.ts"
import { Auditor } from "./auditor.ts"

/** One of this many sockets is checked. Reading every frame would use the CPU time of the generator. */
const socketsPerChecked = 100

const offsetPattern = /"offset":(\d+)/

/** Returns an inspection of deliveries: the offsets on a socket increase by one, without a gap or a repetition. */
export function auditedDeliveries(): Required<Pick<CrowdPlan, "inspect">> & { readonly auditor: Auditor } {
  const auditor = new Auditor()
  const offsets = new Map<number, number>()
  return {
    auditor,
    inspect: (socket, payload) => {
      if (socket % socketsPerChecked !== 0) return
      const offset = Number(offsetPattern.exec(payload.toString("latin1"))?.[1])
      const before = offsets.get(socket)
      auditor.expect(
        before === undefined ? offset >= 0 : offset === before + 1,
        () => `order of events: socket ${socket} received offset ${offset} after ${before}`,
      )
      offsets.set(socket, offset)
    },
  }
}
