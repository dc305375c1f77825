import { describe, expect, it } from "vitest"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { recaptchaSecret, serveRecaptcha } from "../fixtures/servers/recaptcha.ts"
import { serve } from "../fixtures/service.ts"
import { openConsole, password } from "./console-person.ts"

const recaptcha = await serveRecaptcha()
const port = await freePort()
const service = await serve({
  PORT: String(port),
  BASE_URL: `http://127.0.0.1:${port}`,
  RECAPTCHA_SECRET: recaptchaSecret,
  RECAPTCHA_SITE_KEY: "site-key",
  RECAPTCHA_URL: recaptcha.url,
})
const browser = await openBrowser()
const actionsOf = () => recaptcha.asked.map(({ response }) => response?.split(" ")[2])

describe.skipIf(executable === undefined)("with reCAPTCHA configured", () => {
  it("the console registers, and signs in with a new response for every attempt", async () => {
    const email = "human@example.com"
    const context = await browser.person()
    const page = await openConsole(context, service, undefined, "#/sign-in")
    await page.getByRole("tab", { name: "Register" }).click()
    await page.getByLabel("Email").fill(email)
    await page.getByLabel("Password", { exact: true }).fill(password)
    await page.getByRole("button", { name: "Create account" }).click()
    await page.getByText("Welcome.").waitFor()

    const other = await openConsole(await browser.person(), service, undefined, "#/sign-in")
    await other.getByLabel("Email").fill(email)
    await other.getByLabel("Password", { exact: true }).fill("wrong password")
    await other.getByRole("button", { name: "Sign in", exact: true }).click()
    await other.getByText("Incorrect email or password.").waitFor()
    await other.getByLabel("Password", { exact: true }).fill(password)
    await other.getByRole("button", { name: "Sign in", exact: true }).click()
    await other.getByRole("link", { name: "Account" }).first().waitFor()
    expect(actionsOf()).toEqual(["register", "login", "login"])
  })

  it("a sign-in form of a server-rendered page is sent with a new response at every attempt", async () => {
    const before = recaptcha.asked.length
    const page = await (await browser.person()).newPage()
    for (let attempt = 0; attempt < 2; attempt++) {
      await page.goto(`${service.url}/password_reset`)
      await page.getByLabel("Your email address").fill("human@example.com")
      await page.getByRole("button", { name: "Email me a link" }).click()
      await page.getByRole("heading", { name: "Check your email" }).waitFor()
    }
    const responses = recaptcha.asked.slice(before).map(({ response }) => response)
    expect(new Set(responses).size).toBe(2)
  })
})
