# Fenceline in a container: everything in one process, or the cluster roles in FENCELINE_ROLES.
#
#   docker build -t fenceline .
#   docker build -t fenceline:analytics --target analytics .   # with the analytics engine, which a cluster does not use
#   docker buildx bake                                         # both, for amd64 and arm64: docker-bake.hcl
#   docker run --init -p 127.0.0.1:8080:8080 -v fenceline:/var/lib/fenceline fenceline
#
# --init is needed because the first process of a container receives only signals that it handles, and Fenceline
# installs its handlers after it starts.

# All commands run on the builder's own processor, so an image for another one needs no emulation. Packages contain their
# libraries for both processors: npm chooses those of the image, and no install script has to compile them.
FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS all-packages
ARG TARGETARCH
ENV npm_config_os=linux npm_config_libc=glibc npm_config_ignore_scripts=true npm_config_audit=false npm_config_fund=false
WORKDIR /fenceline
COPY package.json package-lock.json deploy/optional-packages.mjs ./
RUN --mount=type=cache,target=/root/.npm \
  npm config set cpu "$(echo "$TARGETARCH" | sed s/amd64/x64/)" && npm ci

FROM all-packages AS packages
RUN --mount=type=cache,target=/root/.npm node optional-packages.mjs optional others "$(npm config get cpu)" \
  && npm ci --omit=dev

FROM all-packages AS engine
RUN node optional-packages.mjs engine engine "$(npm config get cpu)"

FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS build
WORKDIR /fenceline
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --no-audit --no-fund
# .dockerignore lists what is left out.
COPY . .
# Bakes the basemap once in the image, so that the first map of a container is not slower.
RUN npm run build && node dist/renderer/basemap/baking-process.js dist/basemap \
  && find dist -name '*.map' -delete
RUN mkdir --mode=700 data

FROM --platform=$TARGETPLATFORM node:24.21.0-bookworm-slim AS fenceline
ENV NODE_ENV=production FENCELINE_HOST=0.0.0.0 FENCELINE_DATA=/var/lib/fenceline
WORKDIR /fenceline
COPY --from=build --chown=node:node /fenceline/data /var/lib/fenceline
VOLUME /var/lib/fenceline
# Packages first: they are the largest layer and change least often.
COPY --from=packages /fenceline/node_modules node_modules
COPY --from=packages /fenceline/optional node_modules
COPY --from=build /fenceline/package.json ./
COPY --from=build /fenceline/dist dist
COPY --from=build /fenceline/deploy/healthcheck.mjs dist/
USER node
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=4s --start-period=5m --retries=3 CMD ["node", "dist/healthcheck.mjs"]
ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["serve"]

FROM fenceline AS analytics
COPY --from=engine /fenceline/engine node_modules

# The last stage is the default: without the engine, which alone is as large as the rest.
FROM fenceline
