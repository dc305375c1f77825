import { UsageError } from "./failure.ts"

export function readNumber(
  flag: string,
  text: string | undefined,
  least: number,
  most: number,
  whole: boolean,
) {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() === "" || !(value >= least && value <= most) || (whole && !Number.isInteger(value))) {
    throw new UsageError(
      `${flag} must be a ${whole ? "whole " : ""}number from ${least} to ${most}, not "${text}"`,
    )
  }
  return value
}
