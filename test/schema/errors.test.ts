import { expect, it } from "vitest"
import { isProblem, NotFound } from "../../schema/errors.ts"

it("a documented API error has a message and no stack trace, and other errors still have a stack trace", () => {
  const problem = new NotFound({ error: "Gone." })
  expect(isProblem(problem)).toBe(true)
  expect(problem.message).toBe("Gone.")
  expect(problem.stack).toBe("NotFound: Gone.")
  expect(new Error("broken").stack).toMatch(/\n {4}at /)
})
