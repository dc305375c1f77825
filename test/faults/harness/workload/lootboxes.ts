import { freshId, perform, succeed, type User, type World } from "./world.ts"

/** An administrator gives the user a lootbox, and the user opens it. */
export const openLootbox = async (world: World, user: User): Promise<void> => {
  const yats = [freshId(world.seed), freshId(world.seed)]
  const made = await perform(
    world,
    { name: world.root.name, luck: user.luck },
    {
      name: "createLootbox",
      method: "POST",
      path: "/lootboxes",
      token: world.root.token,
      body: { status: "Owned", owner_id: user.id, yats },
    },
  )
  if (made.outcome !== "ok") return
  const { id } = made.body as { id: string }
  const opened = await succeed(world, user, {
    name: "openLootbox",
    method: "POST",
    path: `/lootboxes/${id}/open`,
  })
  if (opened === undefined) return
  user.ids.push(...yats)
  world.unchecked.add({
    invariant: 7,
    what: `lootbox ${id} was opened by ${user.name}`,
    query: "select count(*) as found from event where type = 'lootbox.opened' and data->>'id' = $1",
    values: [id],
    expected: 1,
  })
}
