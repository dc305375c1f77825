/** The entry of the package. `create-client.ts` has what the console needs, so that its first script has no verifier. */

export { ApiError } from "./api-error.ts"
export type * from "./api-types.ts"
export type { ClientOptions } from "./client-options.ts"
export { createClient } from "./create-client.ts"
export type { Item, ListName } from "./list-items.ts"
export type { ChannelState, LiveChannel } from "./live/channel-state.ts"
export { ChannelRefused, type ChannelUpdate } from "./live/channel-updates.ts"
export type { LiveStatus } from "./live/options.ts"
export type { ChannelHandlers, RefusalCode } from "./live/subscriptions.ts"
export { NetworkError } from "./network-error.ts"
export type { Answer, CallOptions, Input, OperationName } from "./operation.ts"
export type { ClientVerifyOptions } from "./proofs/verifier.ts"
export {
  type ProofFault,
  ProofRefused,
  type ProvenRequest,
  type Verified,
  type VerifyOptions,
  verifyAnswer,
} from "./proofs/verify.ts"
export type { Tokens } from "./shared-refresh.ts"
export { browserStorage, type TokenStorage } from "./token-storage.ts"
