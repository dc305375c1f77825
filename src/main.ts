/**
 * Effect stores the async context of every waiting fiber for users of AsyncLocalStorage. This service does not use
 * AsyncLocalStorage, but every request would store the context several times. So `getBuiltinModule`, which Effect
 * uses to find AsyncLocalStorage, is hidden while Effect is loaded.
 */
const { getBuiltinModule } = process
Object.assign(process, { getBuiltinModule: undefined })
const { start } = await import("./start.ts")
Object.assign(process, { getBuiltinModule })

start(import.meta.filename)
