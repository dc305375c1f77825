import type { Config } from "../config/read-config.ts"
import type { Endpoint } from "../http/endpoint.ts"
import { type Server, type ServerOptions, startServer } from "../http/server.ts"
import { metricsPath } from "./routes.ts"

const isMetrics = ({ path }: Endpoint): boolean => path === metricsPath

/** Why a production start does not serve metrics. They describe the load and the errors of the service. */
export const metricsOff =
  "GET /metrics is not served: set METRICS_PORT to serve it on a port of its own, or METRICS_TOKEN to require a token"

type MetricsSettings = Pick<Config, "metricsPort" | "metricsToken" | "production">

export const areMetricsOff = ({ metricsPort, metricsToken, production }: MetricsSettings): boolean =>
  production && metricsPort === undefined && metricsToken === undefined

/** Returns the endpoints of the main port. Metrics are among them only if they have no port of their own. */
export const endpointsOfMainPort = (
  endpoints: ReadonlyArray<Endpoint>,
  config: MetricsSettings,
): ReadonlyArray<Endpoint> =>
  config.metricsPort !== undefined || areMetricsOff(config)
    ? endpoints.filter((endpoint) => !isMetrics(endpoint))
    : endpoints

/** Starts the server of METRICS_PORT. It has only the metrics. Returns undefined if no such port is set. */
export const startMetricsServer = async (
  endpoints: ReadonlyArray<Endpoint>,
  port: number | undefined,
  options: Omit<ServerOptions, "endpoints" | "port">,
): Promise<Server | undefined> =>
  port === undefined
    ? undefined
    : startServer({ ...options, port, endpoints: endpoints.filter(isMetrics), allowedOrigins: [] })
