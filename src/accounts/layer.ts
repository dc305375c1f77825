import { Layer } from "effect"
import { AdminUserUpdates } from "./admin-update-user.ts"
import { ApiKeys } from "./api-keys/api-key-store.ts"
import { Features } from "./feature-store.ts"
import { Parties } from "./party-store.ts"
import { UserAdmin } from "./user-admin-store.ts"
import { UserList } from "./user-list-store.ts"

/** Services for users, features and API keys. The routes and the command line use them. */
export const accounts = AdminUserUpdates.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(ApiKeys.layer, Features.layer, Parties.layer, UserAdmin.layer, UserList.layer),
  ),
)
