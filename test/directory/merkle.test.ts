import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { merkleRoot } from "../../src/directory/merkle.ts"

// The leaves and the roots were computed with Python's hashlib.blake2b(digest_size=32).
const leaves = [
  "ee155ace9c40292074cb6aff8c9ccdd273c81648ff1149ef36bcea6ebb8a3e25",
  "bb30a42c1e62f0afda5f0a4e8a562f7a13a24cea00ee81917b86b89e801314aa",
  "e88bd757ad5b9bedf372d8d3f0cf6c962a469db61a265f6418e1ffed86da29ec",
  "642206314f534b29ad297d82440a5f9f210e30ca5ced805a587ca402de927342",
  "fb3d635c7cb573d1b9e9bff4a64ab4f25190d29b6fd8db94c605a218a23fa9ad",
]
const roots = [
  "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8",
  "ee155ace9c40292074cb6aff8c9ccdd273c81648ff1149ef36bcea6ebb8a3e25",
  "086b2926f5e1cd1cb73847dc84aa2d90459462977cc9f7ef3c92635b728fcd82",
  "57be1bd5fb1d1889ce0f758d989f3b0ecedcb4340a444227699de647a20e3217",
  "4ad1365f82d09c31cd81a58d132cc2f04208537b3e55dd90df03a36e53dacbb4",
  "46523cc3f74ca6e1007f107611be74defa83bb3658155c23aad379eeec9da757",
]

describe("the merkle root", () => {
  it.each(roots.map((root, count) => [count, root] as const))(
    "of %i records equals the reference value",
    (count, root) => {
      expect(merkleRoot(leaves.slice(0, count))).toBe(root)
    },
  )

  it("does not depend on the order of the records", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(leaves, { minLength: 5 }), (shuffled) => {
        expect(merkleRoot(shuffled)).toBe(roots[5])
      }),
    )
  })

  it("changes when any record is removed", () => {
    const without = leaves.map((_, place) => merkleRoot(leaves.filter((_, other) => other !== place)))
    expect(new Set([...without, roots[5]]).size).toBe(6)
  })
})
