import { once } from "node:events"
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { browserStorage, createClient, type TokenStorage, type Tokens } from "../../src/client/client.ts"
import { password, register } from "../accounts/person.ts"
import { serve, type TestService } from "../fixtures/service.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})
afterEach(() => void vi.unstubAllGlobals())

/** A storage that answers later, as a database or the keychain of a phone does. */
const slowStorage = () => {
  const saved: Array<Tokens | undefined> = []
  const storage: TokenStorage = {
    load: async () => saved.at(-1),
    save: async (tokens) => void saved.push(tokens),
  }
  return { saved, storage }
}
const newClient = (storage: TokenStorage) => createClient({ baseUrl: service.url, storage })
const idOf = async (client: ReturnType<typeof newClient>) => (await client.call("GET /account")).user.id

describe("a client with a storage of tokens", () => {
  it("saves the login, which the next client continues, and deletes it at the logout", async () => {
    const { email, id } = await register(service)
    const { saved, storage } = slowStorage()
    const client = newClient(storage)
    await client.logIn({ email, password })
    expect(await idOf(client)).toBe(id)
    expect(saved).toEqual([{ accessToken: expect.stringContaining("."), refreshToken: expect.any(String) }])

    const next = newClient(storage)
    expect(await idOf(next)).toBe(id)
    await next.logOut()
    expect(saved.at(-1)).toBeUndefined()
    await expect(newClient(storage).call("GET /account")).rejects.toMatchObject({ status: 401 })
  })

  it("saves the tokens of a renewal", async () => {
    const { id, refresh } = await register(service)
    const { saved, storage } = slowStorage()
    saved.push({ accessToken: "expired", refreshToken: refresh })
    expect(await idOf(newClient(storage))).toBe(id)
    await expect.poll(() => saved.length).toBe(2)
    expect(saved[1]?.refreshToken).not.toBe(refresh)
    expect(await idOf(newClient(storage))).toBe(id)
  })

  it("logs out the stored login although no call was made before", async () => {
    const { refresh, token } = await register(service)
    const { saved, storage } = slowStorage()
    saved.push({ accessToken: token, refreshToken: refresh })
    await newClient(storage).logOut()
    await expect.poll(() => saved.length).toBe(2)
    expect(saved[1]).toBeUndefined()
    expect((await service.call("GET", "/account", { token })).status).toBe(401)
  })

  it("deletes a login that the service has ended, but not a newer login that another tab has stored", async () => {
    const { saved, storage } = slowStorage()
    const ended = { accessToken: "ended", refreshToken: "ended" }
    saved.push(ended)
    const [one, other] = [newClient(storage), newClient(storage)]
    await expect(one.call("GET /account")).rejects.toMatchObject({ status: 401 })
    await expect.poll(() => saved).toEqual([ended, undefined])
    saved.push({ accessToken: "newer", refreshToken: "newer" })
    await expect(other.call("GET /account")).rejects.toMatchObject({ status: 401 })
    await expect(other.call("GET /account")).rejects.toMatchObject({ status: 401 })
    expect(saved).toHaveLength(3)
  })

  it("keeps the login that was made while the storage was read", async () => {
    const [stored, current] = [await register(service), await register(service)]
    const gate = new AbortController()
    const loaded = once(gate.signal, "abort").then(() => ({
      accessToken: stored.token,
      refreshToken: stored.refresh,
    }))
    const client = newClient({ load: () => loaded, save: () => {} })
    await client.logIn({ email: current.email, password })
    gate.abort()
    await loaded
    expect(await idOf(client)).toBe(current.id)
  })

  it("saves one state after the other, so that an older one never replaces a newer one", async () => {
    const { email } = await register(service)
    const finished: Array<string> = []
    let saves = 0
    const client = newClient({
      load: () => undefined,
      save: async (tokens) => {
        // The first save is the slowest.
        await new Promise((resolve) => setTimeout(resolve, saves++ === 0 ? 100 : 0))
        finished.push(tokens === undefined ? "none" : "login")
      },
    })
    await client.logIn({ email, password })
    await client.logOut()
    await expect.poll(() => finished).toEqual(["login", "none"])
  })

  it("fails calls with the error of a storage that cannot be read, until the next login", async () => {
    const { email, id } = await register(service)
    const client = newClient({
      load: () => Promise.reject(new Error("the keychain is locked")),
      save: () => {},
    })
    await expect(client.call("GET /account")).rejects.toThrow("the keychain is locked")
    await client.logIn({ email, password })
    expect(await idOf(client)).toBe(id)
  })

  it("continues with the login and reports the error if the tokens cannot be saved", async () => {
    const { email, id } = await register(service)
    const reported: Array<unknown> = []
    const { queueMicrotask } = globalThis
    const full = new Error("the storage is full")
    vi.stubGlobal("queueMicrotask", (run: () => void) =>
      queueMicrotask(() => {
        try {
          run()
        } catch (error) {
          reported.push(error)
        }
      }),
    )
    const client = newClient({
      load: () => undefined,
      save: () => {
        throw full
      },
    })
    await client.logIn({ email, password })
    expect(await idOf(client)).toBe(id)
    await expect.poll(() => reported).toEqual([full])
  })
})

describe("`browserStorage`", () => {
  const fakeStorage = () => {
    const items = new Map<string, string>()
    return {
      items,
      getItem: (key: string) => items.get(key) ?? null,
      setItem: (key: string, value: string) => void items.set(key, value),
      removeItem: (key: string) => void items.delete(key),
    }
  }
  const tokens = { accessToken: "a", refreshToken: "r" }

  it("keeps the tokens under a name until they are deleted", () => {
    const page = fakeStorage()
    const storage = browserStorage(page, "wallet")
    expect(storage.load()).toBeUndefined()
    storage.save(tokens)
    expect([...page.items.keys()]).toEqual(["wallet"])
    expect(browserStorage(page, "wallet").load()).toEqual(tokens)
    expect(browserStorage(page).load()).toBeUndefined()
    storage.save(undefined)
    expect(page.items.size).toBe(0)
  })

  it.each(["{", "null", "7", '{"accessToken":"a"}'])("ignores the stored text %s", (text) => {
    const page = fakeStorage()
    page.setItem("emoji-id-tokens", text)
    expect(browserStorage(page).load()).toBeUndefined()
  })
})
