import type { Example } from "./examples.ts"

/** Quotes a text for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Returns the path as curl accepts it: characters that a shell or a URL does not allow are quoted. */
const address = (path: string): string => (/[?&;'"$ ]/.test(path) ? `"$B${path}"` : `$B${path}`)

/** Returns the curl command of an example. `$B` is the base URL, and `$A` an access token. */
export const curlLine = ({ body, form, headers = {}, isSignedIn, method, path }: Example): string => {
  const hasBody = body !== undefined || form !== undefined
  const usual = hasBody ? "POST" : "GET"
  const sent = [
    ...(isSignedIn ? ['-H "Authorization: Bearer $A"'] : []),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"']),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(JSON.stringify(body))}`]),
    ...(form === undefined ? [] : [`-d ${quoted(form)}`]),
  ]
  return [`curl${method === usual ? "" : ` -X ${method}`} ${address(path)}`, ...sent].join(" \\\n  ")
}
