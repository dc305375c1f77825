/**
 * What Node keeps behind getters of the global object, each looked up by name and called at every use, on every request
 * that wants the time or bytes. The bundle takes them from here instead.
 */
export { Buffer } from "node:buffer"
export { performance } from "node:perf_hooks"
