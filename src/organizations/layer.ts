import { Layer } from "effect"
import { Members } from "./member-store.ts"
import { OrganizationKeys } from "./organization-key-store.ts"
import { Organizations } from "./organization-store.ts"

/** The services of this folder: organizations, their members and their keys. */
export const organizations = Layer.mergeAll(Members.layer, OrganizationKeys.layer, Organizations.layer)
