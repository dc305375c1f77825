import { describe, it } from "vitest"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { openConsole, password, register } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

type ConsolePage = Awaited<ReturnType<typeof openConsole>>

const signIn = async (page: ConsolePage, email: string) => {
  await page.getByLabel("Email").fill(email)
  await page.getByLabel("Password", { exact: true }).fill(password)
  await page.keyboard.press("Enter")
}

describe.skipIf(executable === undefined)("whoever goes about in the console", { timeout: 60_000 }, () => {
  it("comes back from the sign-in with the back button", async () => {
    const person = await register(service)
    const page = await openConsole(await browser.person(), service, undefined, "#/lookup")
    await page.getByRole("link", { name: "Cart" }).click()
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
    await page.goBack()
    await page.getByRole("heading", { name: "Look up an emoji id" }).waitFor()

    await page.getByRole("link", { name: "Cart" }).click()
    await signIn(page, person.email)
    await page.getByRole("heading", { name: "Cart", exact: true }).waitFor()
    await page.goBack()
    await page.getByRole("heading", { name: "Look up an emoji id" }).waitFor()
  })
})
