// The parts of undici that a pool of connections needs. Its front door would also load fetch, caches, mocks and more:
// seven megabytes of resident memory that are not used here (bench/client-memory).
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}

declare module "undici/lib/core/connect.js" {
  export { buildConnector as default } from "undici";
}
