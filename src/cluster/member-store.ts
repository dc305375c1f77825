import type { Client } from "../postgres/client.ts"
import type { LeaseCall } from "./lease.ts"
import type { ClusterView } from "./message.ts"

/** The parameter of the functions of schema/sql/functions/cluster.sql. */
export interface LeaseRequest {
  readonly id: string
  readonly leaseMs: number
  readonly deaf: boolean
  readonly openFrom: number
  /** Increases when the process joins again. */
  readonly joined: number
  readonly held: ClusterView["members"][number]["held"]
}

export type SendLeaseCall = (call: LeaseCall, request: LeaseRequest) => Promise<ClusterView | null>

export interface LeaseRow {
  readonly view: ClusterView | null
}

/** The result has one row with the column `view`. */
export const leaseStatement = (q: Client, call: LeaseCall, request: LeaseRequest) => {
  const p = JSON.stringify(request)
  switch (call) {
    case "watch":
      return q`select watch_cluster(${p}::text::jsonb) as view`
    case "join":
      return q`select join_cluster(${p}::text::jsonb) as view`
    case "renew":
      return q`select renew_member(${p}::text::jsonb) as view`
    case "leave":
      return q`select leave_cluster(${p}::text::jsonb), null as view`
  }
}
