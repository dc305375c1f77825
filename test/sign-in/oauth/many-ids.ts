import { EmojiId } from "../../../schema/directory/emoji-id.ts"
import type { TestService } from "../../fixtures/service.ts"

const count = 501
let made = 0

export const someIds = (length: number) =>
  Array.from({ length }, () => {
    const n = made++
    return new EmojiId([9, 8, Math.floor(n / 400), n % 400]).canonical
  })

/** Gives the user more ids than a page lists. Returns the last id. */
export const giveMany = async (service: TestService, userId: string) => {
  const ids = someIds(count)
  await service.sql`with c as (
      insert into claim (canonical, kind, holder, owner_id) select x, 'owned', ${userId}, ${userId} from unnest(${ids}::text[]) x)
    insert into emoji_id (canonical, owner_id, source, registered_at)
    select x, ${userId}, 'test', now() + n * interval '1 ms' from unnest(${ids}::text[]) with ordinality as t(x, n)`
  return ids.at(-1)!
}
