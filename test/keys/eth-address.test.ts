import { Effect } from "effect"
import { expect, test } from "vitest"
import { checkEthAddress } from "../../src/keys/eth-address.ts"

const refusal = (text: string) => Effect.runSync(Effect.flip(checkEthAddress(text))).reason

/** The first four addresses are the examples of EIP-55. */
test.each([
  "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
  "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
  "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
  "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
])("the address %s is accepted in EIP-55 form and in lower case", (address) => {
  expect(Effect.runSync(checkEthAddress(address))).toBe(address)
  expect(Effect.runSync(checkEthAddress(address.toLowerCase()))).toBe(address)
})

test("an address with upper-case letters that do not match the EIP-55 checksum is rejected", () => {
  expect(refusal("0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed")).toBe("checksum")
  expect(refusal("0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED")).toBe("checksum")
})

test.each([
  "",
  "0x",
  "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe",
  "0xg",
])("the address %j is rejected as malformed", (text) => {
  expect(refusal(text)).toBe("malformed")
})
