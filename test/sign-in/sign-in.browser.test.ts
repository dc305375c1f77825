import { describe, expect, it } from "vitest"
import { login, password, register } from "../accounts/person.ts"
import { openConsole } from "../console/console-person.ts"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { newestMailLink, pkce, registerApplication, tokenCall } from "./oauth/application.ts"
import { serveCallbacks } from "./oauth/callback-server.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

/**
 * A third-party application. It redirects users to the login, exchanges the code on its server and shows the emoji
 * id.
 */
const { challenge, verifier } = pkce()
const application = { clientId: "", secret: "", redirectUri: "" }
const origin = await serveCallbacks(async (url, _request, response) => {
  if (url.pathname === "/") {
    const query = new URLSearchParams({
      response_type: "code",
      client_id: application.clientId,
      redirect_uri: application.redirectUri,
      scope: "svc",
      state: "state-of-this-browser",
      code_challenge: challenge,
      code_challenge_method: "S256",
    })
    return void response.end(`<a href="${service.url}/authorize?${query}">Log in with an emoji id</a>`)
  }
  const query = url.searchParams
  if (query.get("state") !== "state-of-this-browser") return void response.end("wrong state")
  if (query.get("status") === "pending_magic_link") return void response.end("<h1>Check your mail</h1>")
  if (query.has("error")) return void response.end(`<h1>${query.get("error")}</h1>`)
  const tokens = await tokenCall(service, {
    grant_type: "authorization_code",
    code: query.get("code") ?? "",
    redirect_uri: application.redirectUri,
    client_id: application.clientId,
    client_secret: application.secret,
    code_verifier: verifier,
  })
  const ids = await service.call("GET", "/emoji_id", { token: tokens.body.access_token })
  response.end(`<h1>Hello ${ids.body.join(" and ")}</h1>`)
})
Object.assign(application, await registerApplication(service, `${origin}/callback`, "Octo Chat"))

describe.skipIf(executable === undefined)("login to a third-party application", () => {
  it("works with an emailed link, and lets the application read only the chosen id", async () => {
    const user = await service.user()
    await service.register("🐙🌊", user)
    await service.register("🔥🎲🔥", user)
    const page = await (await browser.person()).newPage()
    await page.goto(origin)
    await page.getByRole("link").click()
    await page.getByLabel("Your email address").fill(user.email)
    await page.getByRole("button", { name: "Email me a link" }).click()
    await page.getByRole("heading", { name: "Check your mail" }).waitFor()

    await page.goto(await newestMailLink(service, user.email))
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "Choose an emoji id for Octo Chat" }).waitFor()
    await page.getByRole("button", { name: "fire, game die, fire" }).click()
    expect(await page.getByRole("heading").textContent()).toBe("Hello 🔥🎲🔥")

    // The cookie keeps the user logged in, so the second time the user only chooses an id, here with the keyboard.
    await page.goto(origin)
    await page.getByRole("link").click()
    const choice = page.locator('button[value="🐙🌊"]')
    await choice.focus()
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Hello 🐙🌊" }).waitFor()
  })

  it("connects an error with its field for screen readers, and tells password managers the account's email address", async () => {
    const user = await register(service)
    const page = await (await browser.person()).newPage()
    await page.goto(origin)
    await page.getByRole("link").click()
    await page.getByLabel("Your email address").fill(user.email)
    await page.getByText("I have a password").click()
    await page.getByLabel("Password").fill("not the password")
    await page.keyboard.press("Enter")
    const why = await page.getByRole("alert").textContent()
    const describedBy = await page.getByLabel("Password").getAttribute("aria-describedby")
    expect(await page.locator(`#${describedBy}`).textContent()).toBe(why)

    const email = "newcomer@example.com"
    await service.call("POST", "/users", { body: { email } })
    await page.goto(await newestMailLink(service, email))
    await page.getByRole("button", { name: "Sign in" }).click()
    const form = page.locator("form", { has: page.getByLabel("Password") })
    expect(await form.locator('[autocomplete="username"]').inputValue()).toBe(email)
    await page.getByLabel("Password").fill("a password for a newcomer")
    await page.getByRole("button", { name: "Set password" }).click()
    await page.getByLabel("Password").waitFor({ state: "detached" })
  })

  it("submits the password on Enter in the password field, and emails a link on Enter in the email field", async () => {
    const user = await register(service)
    await service.register("🎲🌊🎲", user)
    const page = await (await browser.person()).newPage()
    await page.goto(origin)
    await page.getByRole("link").click()
    await page.getByLabel("Your email address").fill(user.email)
    await page.getByText("I have a password").click()
    await page.getByLabel("Password", { exact: true }).fill(password)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Hello 🎲🌊🎲" }).waitFor()

    const other = await (await browser.person()).newPage()
    await other.goto(origin)
    await other.getByRole("link").click()
    await other.getByLabel("Your email address").fill((await service.user()).email)
    await other.keyboard.press("Enter")
    await other.getByRole("heading", { name: "Check your mail" }).waitFor()
  })

  it("reports `access_denied` to the application when the user cancels", async () => {
    const page = await (await browser.person()).newPage()
    await page.goto(origin)
    await page.getByRole("link").click()
    await page.getByRole("button", { name: "Cancel and go back to Octo Chat" }).click()
    await page.getByRole("heading", { name: "access_denied" }).waitFor()
  })

  it("works if the redirect_uri redirects to another origin, for a user with two ids and for a user with one id", async () => {
    const user = await service.user()
    await service.register("🍀🌊", user)
    await service.register("🍀🎲", user)
    const home = await serveCallbacks((_url, _request, response) => void response.end("<h1>At home</h1>"))
    const door = await serveCallbacks((_url, _request, response) => {
      response.writeHead(302, { location: home }).end()
    })
    const { clientId } = await registerApplication(service, door, "Two Houses")
    const query = new URLSearchParams({ response_type: "code", client_id: clientId, redirect_uri: door })
    const page = await (await browser.person()).newPage()
    await page.goto(`${service.url}/authorize?${query}`)
    await page.getByLabel("Your email address").fill(user.email)
    await page.getByRole("button", { name: "Email me a link" }).click()
    await page.getByRole("heading", { name: "At home" }).waitFor()
    await page.goto(await newestMailLink(service, user.email))
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.locator('button[value="🍀🎲"]').click()
    await page.getByRole("heading", { name: "At home" }).waitFor()

    const single = await service.user()
    await service.register("🍀🍀🎲", single)
    const other = await (await browser.person()).newPage()
    await other.goto(`${service.url}/authorize?${query}`)
    await other.getByLabel("Your email address").fill(single.email)
    await other.keyboard.press("Enter")
    await other.getByRole("heading", { name: "At home" }).waitFor()
    await other.goto(await newestMailLink(service, single.email))
    await other.getByRole("button", { name: "Sign in" }).click()
    await other.getByRole("heading", { name: "At home" }).waitFor()
  })

  it("works in a popup window, whose callback page can still access the window that opened the popup", async () => {
    const user = await register(service)
    await service.register("🌊🎲🌊", user)
    const home = await serveCallbacks((url, _request, response) => {
      if (url.pathname !== "/")
        return void response.end("<script>opener.document.title = 'Called back'</script>")
      const script = `open(decodeURIComponent(location.hash.slice(1)), "login", "width=500,height=600")`
      response.end(`<title>Waits</title><button onclick='login = ${script}'>Log in</button>`)
    })
    const { clientId, redirectUri } = await registerApplication(service, `${home}/callback`, "Small Window")
    const query = new URLSearchParams({
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
    })
    const page = await (await browser.person()).newPage()
    await page.goto(`${home}/#${encodeURIComponent(`${service.url}/authorize?${query}`)}`)
    const opened = page.waitForEvent("popup")
    await page.getByRole("button").click()
    const login = await opened
    await login.getByLabel("Your email address").fill(user.email)
    expect(await page.evaluate("login.closed")).toBe(false)
    await login.getByText("I have a password").click()
    await login.getByLabel("Password", { exact: true }).fill(password)
    await login.keyboard.press("Enter")
    await expect.poll(() => page.title()).toBe("Called back")
  })

  it("logs no errors in the browser console, and hides its cookies from scripts", async () => {
    const user = await service.user()
    await service.register("👑👑👑", user)
    const person = await browser.person()
    const page = await person.newPage()
    const problems: Array<string> = []
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()))
    await page.goto(origin)
    await page.getByRole("link").click()
    await page.getByLabel("Your email address").fill(user.email)
    await page.getByRole("button", { name: "Email me a link" }).click()
    await page.goto(await newestMailLink(service, user.email))
    expect(await page.evaluate("document.cookie")).toBe("")
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "Hello 👑👑👑" }).waitFor()
    expect((await person.cookies(service.url)).every(({ httpOnly }) => httpOnly)).toBe(true)
    expect(problems).toEqual([])
  })
})

describe.skipIf(executable === undefined)("a first password", () => {
  it("is rejected, and not truncated, if it has more than 200 characters", async () => {
    const email = "long-password@example.com"
    await service.call("POST", "/users", { body: { email } })
    const page = await (await browser.person()).newPage()
    await page.goto(await newestMailLink(service, email))
    await page.locator("form button").click()
    await page.getByLabel("Password").focus()
    // Inserting the text at once simulates a paste.
    await page.keyboard.insertText("p".repeat(256))
    await page.getByRole("button", { name: "Set password" }).click()
    await page.getByText("at most 200 characters").waitFor()
  })
})

describe.skipIf(executable === undefined)("an emailed link for an account with a password", () => {
  it("keeps the password if Enter is pressed in the empty field, and removes it with the button `Confirm and remove the password`", async () => {
    const user = await register(service)
    const page = await (await browser.person()).newPage()
    await page.goto(await newestMailLink(service, user.email))
    const field = page.getByLabel("The password you registered with")
    await field.focus()
    await page.keyboard.press("Enter")
    expect(await field.evaluate((input: HTMLInputElement) => input.validity.valueMissing)).toBe(true)

    // The password is also kept if the browser does not validate the field.
    await page.locator("form").evaluate((form: HTMLFormElement) => {
      form.noValidate = true
    })
    await field.press("Enter")
    expect(await page.getByRole("alert").textContent()).toBe("Enter the password you registered with.")
    expect((await login(service, user.email)).status).toBe(200)

    await page.getByRole("button", { name: "Confirm and remove the password" }).click()
    await page.getByRole("heading", { name: "Your address is confirmed" }).waitFor()
    expect((await login(service, user.email)).status).toBe(401)
  })

  it("also asks for the password when the link is pasted into the console", async () => {
    const user = await register(service)
    const page = await openConsole(await browser.person(), service, undefined, "#/sign-in")
    await page.getByRole("tab", { name: "Email link" }).click()
    await page.getByLabel("Email").fill(user.email)
    await page.getByRole("button", { name: "Send me a link" }).click()
    await page.getByLabel("Link from the email").fill(await newestMailLink(service, user.email))
    await page.getByRole("button", { name: "Continue" }).click()
    await page.getByRole("button", { name: "Confirm and remove the password" }).waitFor()
    await page.getByLabel("Password", { exact: true }).press("Enter")
    expect((await login(service, user.email)).status).toBe(200)

    await page.getByLabel("Password", { exact: true }).fill(password)
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    expect((await login(service, user.email)).status).toBe(200)
  })
})
