import { type Html, html } from "../web/html.ts"
import { codeBlock } from "./layout.ts"
import type { Reference } from "./reference.ts"

/** A complete program. test/docs-page/program.test.ts runs it. */
const walletProgram = (
  baseUrl: string,
): string => `// node wallet.mjs 🚀🌊🔥 BTC, or for an asset on several networks: 🚀🌊🔥 USDC ethereum
import { ApiError, createClient } from "emoji-id-directory-client"

const directory = createClient({ baseUrl: "${baseUrl}" })
const [emoji_id, asset, network] = process.argv.slice(2)
const query = network === undefined ? { asset } : { asset, network }

async function show() {
  try {
    const question = { params: { emoji_id }, query }
    const { address, memo, warnings } = await directory.call("GET /emoji_id/{emoji_id}/resolve", question)
    console.log(\`send to \${address}\${memo ? \` with memo \${memo}\` : ""}\`)
    for (const { message } of warnings) console.log(\`warning: \${message}\`)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    console.log(\`do not send: \${error.code}: \${error.message}\`)
    for (const { message } of error.body.warnings ?? []) console.log(\`warning: \${message}\`)
  }
}

// One round for the current state, and one for every change of the id. The client connects again when it must.
for await (const _ of directory.updates(\`emoji_id:\${emoji_id}\`)) await show()`

const installLines = (baseUrl: string) => `npm install ${baseUrl}/client.tgz
node wallet.mjs 🚀🌊🔥 USDC ethereum`

const lookUpLines = `B=BASE_URL

# 1. Look an id up: all of its records. No sign-in is needed.
curl $B/emoji_id/🚀🌊🔥

# 2. The one address to which a wallet sends USDC on Ethereum.
curl "$B/emoji_id/🚀🌊🔥/resolve?asset=USDC&network=ethereum"`

const loginLines = (
  email: string,
  password: string,
) => `# 3. Sign in. Keep the access token for the requests that need one.
A=$(curl -s $B/auth/token -H "Content-Type: application/json" \\
  -d '{"email":"${email}","password":"${password}"}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl $B/account -H "Authorization: Bearer $A"`

export const quickstart = ({ baseUrl, demoLogins }: Reference): Html => {
  const { email, password } = demoLogins[0] ?? { email: "you@example.com", password: "your password" }
  return html`<p>An emoji id, such as 🚀🌊🔥, leads to payment addresses, links and keys. This API looks ids up, sells and transfers them,
and reports every change at once. It speaks JSON over HTTPS, and a WebSocket for <a href="/docs/live">live updates</a>.</p>
<h2 id="first-requests">First requests</h2>
${codeBlock(lookUpLines.replace("BASE_URL", baseUrl), "Shell")}
${codeBlock(loginLines(email, password), "Shell")}
<p>The examples of all operations use <code>$B</code> and <code>$A</code> as these lines set them. Each operation has a form
that sends it from this page: sign in at the top first if it needs a sign-in.</p>
<h2 id="wallet">A wallet lookup that stays current</h2>
<p>A complete program. It prints the address for an asset, and prints it again whenever the owner changes the id. This service
has the client for it, as a package without dependencies:</p>
${codeBlock(installLines(baseUrl), "Shell")}
${codeBlock(walletProgram(baseUrl), "wallet.mjs")}
<p>The client is typed, for Node and browsers. It connects again after a lost connection and misses no change, obeys the
<a href="/docs/live#close-codes">close codes</a>, and repeats failed requests safely. It needs a global WebSocket, which browsers and Node 22 have.
Start Node 20 with <code>--experimental-websocket</code>. After an update of this
service, run the same <code>npm install</code> again: <code>npm ci</code> refuses a package that has changed since it was installed. Programs in other languages use <a href="/docs/live">the frames</a>.</p>
<p>Show every new address and warning to the user before they sign. Never send without the memo, if there is one.
<a href="/docs/for-wallets">For wallets</a> has all rules, warnings, networks and assets, and <a href="/docs/records">Records</a> the forms of the
data. To check offline that nobody on the way has changed an answer, add <code>proof: true</code> to the query and call
<code>directory.verify(answer)</code>: <a href="/docs/verification">Verify answers</a> explains what this proves.
<a href="/docs/client">Client</a> has all options and methods of the package.</p>
<h2 id="authentication">Authentication</h2>
<p>Send <code>Authorization: Bearer</code> with an access token from <a href="/docs/authentication#login">POST /auth/token</a>, or
<code>X-Api-Key</code> with a key from <a href="/docs/api-keys#createApiKey">POST /api_keys</a>. An access token lives 15 minutes:
<a href="/docs/authentication#refreshToken">renew it</a> with the refresh token. Sensitive operations of users with two-factor authentication
answer 424 until a <a href="/docs/authentication#twoFactorAuthentication">recent code</a> was sent.</p>
<h2 id="emoji-ids">Emoji ids in requests</h2>
<p>Percent-encode ids in URLs, as <code>encodeURIComponent</code> does. Every spelling is accepted: with or without variation selectors
and skin tones. Responses have the canonical spelling.</p>
<h2 id="idempotency">Safe retries</h2>
<p>Send an <code>Idempotency-Key</code>, a random text of your choice, with a write. If the response is lost, send the same request with
the same key again: it is executed once, and you get the first response with <code>Idempotent-Replayed: true</code>. Another request
with the same key is 422.</p>
<h2 id="lists">Lists</h2>
<p>A list takes <code>limit</code>, <code>sort</code>, <code>dir</code>, and the cursors <code>after</code> and <code>before</code>. Read
the next page with <code>paging.next</code> of the response as <code>after</code>. A list that is an array has the URLs of its pages in
the header <code>Link</code>. Rows that are added meanwhile shift nothing.</p>
<h2 id="tools">Machine-readable</h2>
<p><a href="/openapi.json">/openapi.json</a> is OpenAPI 3.1 with all descriptions and examples, and
<a href="/asyncapi.json">/asyncapi.json</a> is AsyncAPI 3.1. Both work with common generators.</p>`
}
