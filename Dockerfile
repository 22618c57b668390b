# Fenceline in a container: everything in one process, or the cluster roles in FENCELINE_ROLES.
#
#   docker build -t fenceline .
#   docker run --init -p 127.0.0.1:8080:8080 -v fenceline:/var/lib/fenceline fenceline
#
# --init is needed because the first process of a container receives only signals that it handles, and Fenceline
# installs its handlers after it starts.

FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /fenceline
COPY package.json package-lock.json ./
# The router comes with the programs of all platforms: 280 MB, of which one takes 65 to 121 MB.
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --no-audit --no-fund \
  && cd node_modules/@valhallajs/valhallajs && rm -r darwin \
  && find linux -mindepth 1 -maxdepth 1 ! -name "$(node -p process.arch)" -exec rm -r {} +

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /fenceline
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --no-audit --no-fund
# .dockerignore lists what is left out.
COPY . .
# Bakes the basemap once in the image, so that the first map of a container is not slower.
RUN npm run build && node dist/renderer/basemap/baking-process.js dist/basemap

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production FENCELINE_HOST=0.0.0.0 FENCELINE_DATA=/var/lib/fenceline
WORKDIR /fenceline
RUN install --directory --mode=700 --owner=node --group=node /var/lib/fenceline
VOLUME /var/lib/fenceline
# Packages first: they are the largest layer and change least often.
COPY --from=packages /fenceline/node_modules node_modules
COPY --from=build /fenceline/package.json /fenceline/deploy/healthcheck.mjs ./
COPY --from=build /fenceline/dist dist
USER node
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=4s --start-period=5m --retries=3 CMD ["node", "healthcheck.mjs"]
ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["serve"]
