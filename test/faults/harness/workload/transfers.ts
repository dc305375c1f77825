import { findMail, succeed, type User, type World } from "./world.ts"

/** Transfers an id to another user with both codes. */
export const transfer = async (world: World, sender: User): Promise<void> => {
  const { luck } = sender
  const receiver = luck.pick(world.users.filter((user) => user !== sender && !user.logsOut))!
  const eid = sender.ids.shift()
  if (eid === undefined) return
  const requested = await succeed(world, sender, {
    name: "requestTransfer",
    method: "POST",
    path: "/transfers",
    body: { eid, email: receiver.email },
    // The id cannot be transferred again for a second.
    mayAnswer: [409, 422],
  })
  if (requested === undefined) return void sender.ids.push(eid)
  const { id } = requested as { id: string }
  world.unchecked.add({
    invariant: 6,
    what: `transfer ${id} was acknowledged`,
    query: "select count(*) as found from entity where kind = 'transfer' and id = $1::uuid",
    values: [id],
    expected: 1,
  })
  for (const [side, user] of [
    ["sender", sender],
    ["receiver", receiver],
  ] as const) {
    const mail = await findMail(
      world,
      user.email,
      ({ code, text }) => code !== undefined && text.includes(eid),
    )
    if (mail === undefined) return
    const accepted = await succeed(world, user, {
      name: `${side}Accept`,
      method: "POST",
      path: `/transfers/${id}/${side}_accept`,
      body: { code: mail.code },
    })
    if (accepted === undefined) return
  }
  receiver.ids.push(eid)
  world.unchecked.add({
    invariant: 7,
    what: `transfer ${id} of an id to ${receiver.name} was accepted by both`,
    query:
      "select count(*) as found from event where type = 'transfer.accepted' and channel = 'transfer:' || $1",
    values: [id],
    expected: 1,
  })
}
