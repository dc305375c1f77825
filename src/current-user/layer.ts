import { Layer } from "effect"
import { CurrentUsers } from "./current-users.ts"
import { SessionData } from "./session-data.ts"

/** What the signed-in user sees of their own account. */
export const currentUser = SessionData.layer.pipe(Layer.provideMerge(CurrentUsers.layer))
