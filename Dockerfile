# The image of the service.
#
#   docker build --build-arg GIT_COMMIT="$(git rev-parse HEAD)" -t emoji-id-directory .
#   docker run --rm --init --stop-timeout 100 --read-only --tmpfs /tmp -v directory-data:/data -p 127.0.0.1:3001:3001 \
#     -e METRICS_TOKEN=… -e ADMIN_EMAIL=… -e ADMIN_PASSWORD=… emoji-id-directory
#
# Without DATABASE_URL it runs its own Postgres in /data. deploy/compose.yaml starts several processes with one database.

# Debian 13: the socket library needs glibc 2.38 or newer with Node 22 and 24.
FROM node:24-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
ARG GIT_COMMIT=""
RUN npm run build && npm prune --omit=dev
# The socket library brings binaries for all platforms and versions of Node, 250 MB.
RUN find node_modules/uWebSockets.js -name "uws_*.node" \
  ! -name "uws_linux_$(node -p process.arch)_$(node -p process.versions.modules).node" -delete

FROM node:24-trixie-slim
ENV NODE_ENV=production DATA_DIR=/data
WORKDIR /app
# The files are owned by root, so the service cannot change its own program.
COPY --from=build /app/package.json ./
COPY --from=build /app/dist dist
COPY --from=build /app/schema/sql schema/sql
COPY --from=build /app/src/web/assets src/web/assets
COPY --from=build /app/src/docs-page/examples.json src/docs-page/examples.json
COPY --from=build /app/docs/wallets.md /app/docs/verification.md /app/docs/verify.py docs/
COPY --from=build /app/src/client/package/README.md src/client/package/README.md
COPY --from=build /app/node_modules node_modules
# pg_dump, for backups of an external database.
RUN apt-get update && apt-get install -y --no-install-recommends postgresql-client && rm -rf /var/lib/apt/lists/* \
  && install -d -o node -g node -m 700 /data /backups
USER node
VOLUME /data
EXPOSE 3001
# /health and not /ready: a container whose database is away must not be restarted.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3001}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
CMD ["node", "--max-semi-space-size=32", "dist/main.js"]
