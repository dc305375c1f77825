import { Layer } from "effect"
import { CurrentUsers } from "./current-users.ts"
import { SessionData } from "./session-data.ts"

/** The services behind `/account` and `/account/load`. */
export const currentUser = SessionData.layer.pipe(Layer.provideMerge(CurrentUsers.layer))
