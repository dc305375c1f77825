import { type Body, NoAnswer } from "./api.ts"
import { succeed, type User, type World } from "./world.ts"

const textTag = "0x5001"

/** The text record of an id, which holds the number of the edit. */
const textOf = (body: Body): { readonly data: string; readonly hash: string } | undefined =>
  body?.result?.find(({ tag }: { tag: string }) => tag === textTag)

/** Replaces the text record by the next number. */
export const editRecord = async (world: World, user: User): Promise<void> => {
  const { edited } = user
  const value = edited.value + 1
  const data = `value ${value}`
  const path = `/emoji_id/${encodeURIComponent(edited.id)}`
  try {
    const body = await succeed(world, user, {
      name: "editRecord",
      method: "PATCH",
      path,
      body: {
        insert: [{ tag: textTag, data }],
        ...(edited.hash === undefined ? {} : { delete: [edited.hash] }),
      },
    })
    if (body !== undefined)
      world.versions.acknowledged(edited.id, value, `the acknowledged edit of ${user.name}`)
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
  }
  // The next edit deletes the record that is stored now, whether this edit was applied or not.
  edited.value = value
  edited.hash = await hashNow(world, path)
}

const hashNow = async ({ api, isOver }: World, path: string): Promise<string | undefined> => {
  while (!isOver()) {
    for (const member of api.members) {
      const answer = await api.once(member, { name: "lookup", method: "GET", path }).catch(() => undefined)
      if (answer?.status === 200) return textOf(answer.body)?.hash
    }
  }
  return undefined
}
