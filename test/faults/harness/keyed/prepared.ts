import type { TestService } from "../../../fixtures/test-service.ts"

/** A keyed request whose fixture is ready. */
export interface Prepared {
  readonly path: string
  readonly body?: unknown
  readonly rawBody?: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Called between the request and its retry, for example to let time pass. */
  readonly meanwhile?: () => Promise<unknown>
}

/** Creates the fixture of a request. It is called once for each run, so that every run has an equal fixture. */
export type Prepare = (service: TestService) => Promise<Prepared>
