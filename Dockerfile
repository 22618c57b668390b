# Fenceline in a container: everything in one process, or the cluster roles in FENCELINE_ROLES.
#
#   docker build -t fenceline .
#   docker build -t fenceline:analytics --target analytics .   # with the analytics engine, which a cluster does not use
#   docker buildx bake                                         # both, for amd64 and arm64: docker-bake.hcl
#   docker run --init -p 127.0.0.1:8080:8080 -v fenceline:/var/lib/fenceline fenceline
#
# --init is needed because the first process of a container receives only signals that it handles, and Fenceline
# installs its handlers after it starts.

FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /fenceline
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --no-audit --no-fund

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /fenceline
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --no-audit --no-fund
# .dockerignore lists what is left out.
COPY . .
# Bakes the basemap once in the image, so that the first map of a container is not slower.
RUN npm run build && node dist/renderer/basemap/baking-process.js dist/basemap \
  && find dist -name '*.map' -delete
RUN node deploy/optional-packages.mjs optional others && node deploy/optional-packages.mjs engine engine

FROM node:24.21.0-bookworm-slim AS fenceline
ENV NODE_ENV=production FENCELINE_HOST=0.0.0.0 FENCELINE_DATA=/var/lib/fenceline
WORKDIR /fenceline
RUN install --directory --mode=700 --owner=node --group=node /var/lib/fenceline
VOLUME /var/lib/fenceline
# Packages first: they are the largest layer and change least often.
COPY --from=packages /fenceline/node_modules node_modules
COPY --from=build /fenceline/optional node_modules
COPY --from=build /fenceline/package.json /fenceline/deploy/healthcheck.mjs ./
COPY --from=build /fenceline/dist dist
USER node
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=4s --start-period=5m --retries=3 CMD ["node", "healthcheck.mjs"]
ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["serve"]

FROM fenceline AS analytics
COPY --from=build /fenceline/engine node_modules

# The last stage is the default: without the engine, which alone is as large as the rest.
FROM fenceline
