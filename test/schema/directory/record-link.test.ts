import { describe, expect, it } from "vitest"
import { findRedirect, parseWebLink } from "../../../schema/directory/records/record-link.ts"

describe("a web link", () => {
  it("consists of an optional name and a URL", () => {
    expect(parseWebLink("https://example.com")).toEqual({ name: undefined, url: "https://example.com/" })
    expect(parseWebLink("my shop|HTTP://Example.com/a|b")).toEqual({
      name: "my shop",
      url: "http://example.com/a|b",
    })
  })

  it("is normalized to ASCII, so that an HTTP header can contain it", () => {
    expect(parseWebLink("https://exämple.com/ü")?.url).toBe("https://xn--exmple-cua.com/%C3%BC")
  })

  it("can have a name of at most 64 characters", () => {
    expect(parseWebLink(`${"n".repeat(64)}|https://example.com`)).toBeDefined()
    expect(parseWebLink(`${"n".repeat(65)}|https://example.com`)).toBeUndefined()
  })
})

describe("a redirect", () => {
  const records = [
    { tag: "0x4001", data: "shop|https://old.example/" },
    { tag: "0x0004", data: "https://home.example/" },
    { tag: "0x4001", data: "https://unnamed.example/" },
    { tag: "0x4001", data: "shop|https://new.example/" },
    { tag: "0x5001", data: "https://text.example/" },
  ]

  it("goes to the newest link with the requested name", () => {
    expect(findRedirect(records, "shop")).toBe("https://new.example/")
  })

  it("goes to the Redirect record if no link name or an unknown link name is requested", () => {
    expect(findRedirect(records, undefined)).toBe("https://home.example/")
    expect(findRedirect(records, "blog")).toBe("https://home.example/")
  })

  it("goes to the unnamed link that is requested by its URL, its host or the hash of its record", () => {
    const links = [
      { tag: "0x0004", data: "https://home.example/" },
      { tag: "0x4001", data: "https://www.Blog.example/post?a=1#top", hash: "ab12" },
      { tag: "0x4001", data: "https://other.example/" },
      { tag: "0x4001", data: "other.example|https://named.example/" },
    ]
    const post = "https://www.blog.example/post?a=1#top"
    for (const link of ["https://WWW.blog.example/post?a=1#top", "blog.example", "www.blog.example", "AB12"])
      expect([link, findRedirect(links, link)]).toEqual([link, post])
    expect(findRedirect(links, "other.example")).toBe("https://named.example/")
  })

  it("goes to the newest unnamed link if the id has no Redirect record", () => {
    const links = [
      { tag: "0x4001", data: "https://first.example/" },
      { tag: "0x4001", data: "https://second.example/" },
      { tag: "0x4001", data: "shop|https://shop.example/" },
    ]
    for (const link of [undefined, "", "unknown", "https://evil.example/", "//evil.example", "evil.example"])
      expect(findRedirect(links, link)).toBe("https://second.example/")
    expect(findRedirect(links.slice(2), "https://shop.example/")).toBeUndefined()
  })

  it("is undefined if there is neither a matching link nor a valid Redirect record", () => {
    expect(findRedirect([], "shop")).toBeUndefined()
    expect(findRedirect([{ tag: "0x0004", data: "javascript:alert(1)" }], undefined)).toBeUndefined()
    expect(findRedirect([], "https://evil.example/")).toBeUndefined()
    expect(
      findRedirect([{ tag: "0x4001", data: "javascript:alert(1)" }], "javascript:alert(1)"),
    ).toBeUndefined()
  })
})
