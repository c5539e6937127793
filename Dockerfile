# One image with all operators; each Deployment says which of them it runs:
#   docker build --tag konverge/operators:0.1.0 .
#   docker run konverge/operators:0.1.0 run --operators=llm-operator
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages packages
COPY operators operators
COPY tools tools
# No install script is run; tests, tools and links to them stay behind.
RUN npm ci --omit=dev --ignore-scripts --no-fund --no-audit \
 && rm -rf tools \
 && find packages operators -type d \( -name test -o -name samples -o -name tutorial \) -prune -exec rm -rf {} + \
 && find packages operators -name '*.test.ts' -delete \
 && find node_modules -xtype l -delete

FROM gcr.io/distroless/nodejs24-debian12:nonroot
WORKDIR /app
COPY --from=build /app /app
ENV NODE_ENV=production
# OPERATORS: all, or names with commas between them. LOG_LEVEL: trace, debug, info, warn, error, silent.
ENV OPERATORS=all LOG_LEVEL=info
USER 65532:65532
EXPOSE 8080 8081 9443
ENTRYPOINT ["/nodejs/bin/node", "--disable-warning=ExperimentalWarning", "/app/packages/cli/src/main.ts"]
CMD ["run"]
