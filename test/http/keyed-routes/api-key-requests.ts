import type { Prepare } from "./keyed-request.ts"

export const apiKeyRequests: Record<string, Prepare> = {
  createApiKey: async (service) => ({
    method: "POST",
    path: "/api_keys",
    options: { token: (await service.user()).token, body: { name: "till" } },
  }),
  deleteApiKey: async (service) => {
    const { token } = await service.user()
    const { body } = await service.call("POST", "/api_keys", { token, body: { name: "till" } })
    return { method: "DELETE", path: `/api_keys/${body.id}`, options: { token } }
  },
}
