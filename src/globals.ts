/**
 * Globals that Node defines as getters, which are looked up by name and called at every use. The bundle imports them
 * from here instead, because requests use them often.
 */
export { Buffer } from "node:buffer"
export { performance } from "node:perf_hooks"
