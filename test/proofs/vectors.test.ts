import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterEach, describe, expect, it, vi } from "vitest"
import { verifyAnswer } from "../../src/client/client.ts"
import { findProgram } from "../fixtures/suite/system-program.ts"
import { namedVectors, type Vector, vectorsOf } from "../fixtures/vectors.ts"
import { proofVectors } from "./make-vectors.ts"

const root = join(import.meta.dirname, "../..")
const text = readFileSync(join(root, "schema/vectors/proofs.json"), "utf8")
const { document } = JSON.parse(text)

const outcome = async (verify: typeof verifyAnswer, vector: Vector<"proofs">) => {
  const { answer, at_least: atLeast, emoji_id: emojiId, now, request } = vector
  try {
    const found = await verify(document, answer, { atLeast, emojiId, now, request })
    return { registered: found.registered, version: found.version, signed_by_owner: found.isSignedByOwner }
  } catch (error) {
    return (error as { readonly code?: string }).code
  }
}

it("the vectors of proofs are those that the service's own rules make", () => {
  expect(text).toBe(proofVectors())
})

describe("the verifier of the client", () => {
  it.each(namedVectors("proofs"))("decides the vector: %s", async (_, vector) => {
    expect(await outcome(verifyAnswer, vector)).toEqual(vector.expected ?? vector.error)
  })
})

describe("in a runtime without Ed25519, the verifier of the client", () => {
  afterEach(() => void vi.restoreAllMocks())

  it("decides every vector in the same way", async () => {
    const unsupported = new DOMException("Unrecognized name.", "NotSupportedError")
    const native = vi.spyOn(crypto.subtle, "importKey").mockRejectedValue(unsupported)
    vi.resetModules()
    const fresh = await import("../../src/client/proofs/verify.ts")
    for (const vector of vectorsOf("proofs"))
      expect([vector.name, await outcome(fresh.verifyAnswer, vector)]).toEqual([
        vector.name,
        vector.expected ?? vector.error,
      ])
    expect(native).toHaveBeenCalledTimes(1)
  })
})

const script = `
import json, sys
from verify import verify
for vector in json.load(open(sys.argv[1]))["vectors"]:
    document = json.load(open(sys.argv[1]))["document"]
    try:
        asked = [vector[name] for name in ("answer", "emoji_id", "request", "at_least", "now")]
        claims = verify(document, *asked)
        found = {"registered": claims["registered"], "version": claims["version"], "signed_by_owner": "owner_signature" in claims}
    except ValueError as error:
        found = str(error)
    print(json.dumps([vector["name"], found]))
`

describe.skipIf(findProgram("python") === undefined)("the verifier in Python", () => {
  it("has under sixty lines, and decides every vector", async () => {
    expect(readFileSync(join(root, "docs/verify.py"), "utf8").split("\n").length).toBeLessThanOrEqual(60)
    const { stdout } = await promisify(execFile)(
      "/usr/bin/python3",
      ["-B", "-c", script, join(root, "schema/vectors/proofs.json")],
      { env: { PYTHONPATH: join(root, "docs"), PYTHONIOENCODING: "utf-8" } },
    )
    const decided = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(decided).toEqual(vectorsOf("proofs").map(({ error, expected, name }) => [name, expected ?? error]))
  })
})
