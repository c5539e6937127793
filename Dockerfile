# One image with all operators; each Deployment says which of them it runs:
#   docker build --tag konverge/operators:0.1.0 .
#   docker run konverge/operators:0.1.0 run --operators=llm-operator
# Tags get security fixes; pass digests to build on fixed images.
ARG BUILD_IMAGE=node:24-bookworm-slim
ARG BASE_IMAGE=gcr.io/distroless/nodejs24-debian12:nonroot

FROM ${BUILD_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json LICENSE README.md CHANGELOG.md ./
COPY packages packages
COPY operators operators
COPY tools tools
COPY scripts/release scripts/release
# No install script is run. The packages are put together as they are published.
RUN npm ci --ignore-scripts --no-fund --no-audit \
 && PATH="$PWD/node_modules/.bin:$PATH" node --disable-warning=ExperimentalWarning scripts/release/pack.ts --stage
# Libraries as the lock file has them; in place of the links to the workspace, what it was bundled to. No embedded cluster.
RUN npm ci --omit=dev --ignore-scripts --no-fund --no-audit \
 && find node_modules -type l -delete \
 && cp -r dist/stage/node_modules/. node_modules/ \
 && rm -rf node_modules/@konverge/dev node_modules/undici node_modules/yaml node_modules/re2js node_modules/commander node_modules/zod

FROM ${BASE_IMAGE}
WORKDIR /app
COPY --from=build /app/node_modules /app/node_modules
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/compiled
# Compiled once, here, rather than by each container that starts.
USER 0
RUN ["/nodejs/bin/node", "/app/node_modules/konverge/bin/konverge.js", "operators", "@konverge/operators"]
# OPERATORS: all, or names with commas between them. LOG_LEVEL: trace, debug, info, warn, error, silent.
ENV OPERATORS=all LOG_LEVEL=info
USER 65532:65532
EXPOSE 8080 8081 9443
ENTRYPOINT ["/nodejs/bin/node", "/app/node_modules/konverge/bin/konverge.js"]
CMD ["run"]
