import type { Luck } from "../../fixtures/walk.ts"

/** Occurs in hostile texts. A page that contains this text has not encoded what it shows. */
export const markup = "<fz'\"onfz=1>"
/** The name of a header that hostile texts try to add to a response. */
export const injectedHeader = "x-fuzz-injected"

const unicode = [
  "\0",
  "a\0b",
  "\ud800",
  "a\udfffb",
  "\u202eabc",
  "\ufeff",
  "\uffff",
  "e\u0301\u0301\u0301",
  "☃️",
  "👨‍👩‍👧‍👦",
  "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
  "１２３",
  "ß",
  "İ",
]
const attacks = [
  markup,
  `</script>${markup}`,
  `x\r\n${injectedHeader}: yes\r\n\r\n`,
  "'; drop table entity; --",
  "' or '1'='1",
  "{{7*7}}#{7*7}",
  "../../../etc/passwd",
  "..%2f..%2f",
  "javascript:alert(1)",
  "//evil.example/x",
  "https://evil.example\\@directory.example/",
  "http://127.0.0.1:1/",
  "http://169.254.169.254/latest/meta-data",
  "file:///etc/passwd",
  "__proto__",
  "constructor",
  "toString",
  "%00",
  "%zz",
]
const numeric = [
  "",
  " ",
  "0",
  "-1",
  "1e309",
  "NaN",
  "0x10",
  "9007199254740993",
  "9223372036854775808",
  "1.5",
  "null",
  "true",
  "[]",
  "{}",
]
const times = [
  "2026-11-15T00:00:00Z",
  "9999-12-31T23:59:59Z",
  "0001-01-01T00:00:00Z",
  "+010000-01-01T00:00:00Z",
  "2026-02-30T00:00:00Z",
  "infinity",
  "now",
]
const shaped = [
  "00000000-0000-4000-8000-000000000000",
  "ab".repeat(32),
  "0x1003",
  "a@b.co",
  "+15551234567",
  "eyJhbGciOiJub25lIn0.e30.",
]
export const hostileTexts = [...unicode, ...attacks, ...numeric, ...times, ...shaped]

export const hostileNumbers = [
  0,
  -0,
  1,
  -1,
  0.5,
  -1e-4,
  100,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 53),
  2 ** 63,
  1e15,
  1e21,
  1e308,
]

const nested = (depth: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

const longText = (luck: Luck): string =>
  luck.pick(["x", "é", "🚀", " ", "\u0000", "%", '"', "\\"])!.repeat(luck.pick([300, 5_000, 70_000])!)

export const hostileText = (luck: Luck): string =>
  luck.chance(0.06) ? longText(luck) : luck.pick(hostileTexts)!

/** Any JSON value that a client may send by mistake or to cause harm. */
export const hostileValue = (luck: Luck): unknown => {
  switch (luck.below(8)) {
    case 0:
      return null
    case 1:
      return luck.pick(hostileNumbers)
    case 2:
      return luck.pick<unknown>([[], {}, true, false, [null], [[[[]]]], { a: { b: {} } }, [1, "2", null]])
    case 3:
      return luck.chance(0.2) ? nested(luck.pick([10, 63, 65])!) : [hostileText(luck)]
    default:
      return hostileText(luck)
  }
}

/** JSON texts that no `JSON.stringify` makes. */
export const hostileJson: ReadonlyArray<string> = [
  "",
  " ",
  "{",
  "nul",
  "[1,",
  '{"a":1}}',
  "\ufeff{}",
  '{"a":1,"a":2}',
  '{"__proto__":{"role":"Admin"}}',
  '{"constructor":{"prototype":{"role":"Admin"}}}',
  '{"a":"\\ud800"}',
  '{"a":"\\u0000"}',
  '{"\\u0000":1}',
  '{"a":1e999}',
  `{"a":${"9".repeat(400)}}`,
  "[".repeat(5_000),
  `${'{"a":'.repeat(200)}1${"}".repeat(200)}`,
  "{'a':1}",
  "{a:1}",
  "[1,]",
  "\u0000",
  "NaN",
  '"text"',
  "null",
  "1",
]

/** Bodies that are not UTF-8. */
export const hostileBytes: ReadonlyArray<Uint8Array> = [
  Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
  Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]),
  Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d]),
  Buffer.from([0x22, 0xc0, 0xaf, 0x22]),
  Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00]),
  Buffer.alloc(3000, 0),
]
