import { expect, it, vi } from "vitest"
import { serveDirectory } from "../directory-service.ts"

const quietSeconds = 2 * 3600

it("the first lookup of an id after two hours without lookups returns the current view count", async () => {
  const begun = vi.spyOn(globalThis, "setInterval")
  const service = await serveDirectory()
  const seconds = begun.mock.calls.flatMap(([run, ms]) => (ms === 1000 ? [run as () => void] : []))
  begun.mockRestore()
  const id = "🍎🐼"
  await service.register(id, await service.user())
  expect((await service.lookup(id)).body.stats[0].value).toBe(0)
  for (let passed = 0; passed < quietSeconds; passed++) for (const pass of seconds) pass()
  // These are views that another process has counted during the pause.
  await service.sql`insert into emoji_id_view (canonical, day, views) values (${id}, current_date, 100)
                    on conflict (canonical, day) do update set views = emoji_id_view.views + 100`
  expect((await service.lookup(id)).body.stats[0].value).toBeGreaterThanOrEqual(100)
})
