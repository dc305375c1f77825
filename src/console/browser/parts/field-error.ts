import { ApiError } from "../../../client/api-error.ts"

/** A problem of one field that the page finds before anything is sent. The form shows it as it shows those of the service. */
export const fieldError = (field: string, message: string): ApiError =>
  new ApiError(422, new Headers(), { error: message, fields: { [field]: [{ code: "invalid", message }] } })
