/**
 * Effect keeps the async context of every fiber that waits, for those who read an AsyncLocalStorage. Nobody here does, and
 * each request would pay for it several times: so Effect is loaded, with the little that starts us, where it does not find
 * what it keeps contexts with.
 */
const { getBuiltinModule } = process
Object.assign(process, { getBuiltinModule: undefined })
const { start } = await import("./start.ts")
Object.assign(process, { getBuiltinModule })

start(import.meta.filename)
