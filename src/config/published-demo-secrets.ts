/** The published demo secrets: passwords of demo users by email, and the secret of the demo OAuth client by its id. */
export const publishedSecrets = {
  "admin@example.com": "admin-demo-1",
  "alice@example.com": "alice-demo-1",
  "bob@example.com": "bob-demo-1",
  "demo-app": "demo-app-secret",
} as const

export type DemoSecretName = keyof typeof publishedSecrets

export const isPublishedSecret = (secret: string): boolean =>
  Object.values<string>(publishedSecrets).includes(secret)
