/**
 * Effect keeps the async context of every fiber that waits, for those who read an AsyncLocalStorage. Nobody here does, and
 * each request would pay for it several times: so Effect is loaded where it does not find what it keeps contexts with.
 */
const { getBuiltinModule } = process
Object.assign(process, { getBuiltinModule: undefined })
await import("effect")
Object.assign(process, { getBuiltinModule })

const { start } = await import("./start.ts")
start(import.meta.filename)
