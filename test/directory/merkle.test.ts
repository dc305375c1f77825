import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { merkleRoot } from "../../src/directory/merkle.ts"
import { vectorsOf } from "../fixtures/vectors.ts"

const { hashes: leaves, root } = vectorsOf("merkle-roots").at(-1)!

// schema/vectors/merkle-roots.json has the roots of known hashes.
describe("the merkle root", () => {
  it("does not depend on the order of the records", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...leaves], { minLength: leaves.length }), (shuffled) => {
        expect(merkleRoot(shuffled)).toBe(root)
      }),
    )
  })

  it("changes when any record is removed", () => {
    const without = leaves.map((_, place) => merkleRoot(leaves.filter((_, other) => other !== place)))
    expect(new Set([...without, root]).size).toBe(6)
  })
})
