# Fenceline in a container: the roles of a cluster that FENCELINE_ROLES names, or everything in one process.
#
#   docker build -t fenceline .
#   docker run --init -p 127.0.0.1:8080:8080 -v fenceline:/var/lib/fenceline fenceline
#
# --init, for Linux hands the first process of a container only those signals that it has asked for, and Fenceline asks
# once it is ready.

FROM node:20.20.2-bookworm-slim AS packages
WORKDIR /fenceline
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --no-audit --no-fund

FROM node:20.20.2-bookworm-slim AS build
WORKDIR /fenceline
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --no-audit --no-fund
# What comes along is in .dockerignore.
COPY . .
# The basemap is baked here, so that no container has to: its first map is as fast as any.
RUN npm run build && node dist/renderer/basemap/baking-process.js dist/basemap

FROM node:20.20.2-bookworm-slim
ENV NODE_ENV=production FENCELINE_HOST=0.0.0.0 FENCELINE_DATA=/var/lib/fenceline
WORKDIR /fenceline
RUN install --directory --mode=700 --owner=node --group=node /var/lib/fenceline
VOLUME /var/lib/fenceline
# The packages first: they are by far the most, and change least.
COPY --from=packages /fenceline/node_modules node_modules
COPY --from=build /fenceline/package.json /fenceline/deploy/healthcheck.mjs ./
COPY --from=build /fenceline/dist dist
USER node
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=4s --start-period=5m --retries=3 CMD ["node", "healthcheck.mjs"]
ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["serve"]
