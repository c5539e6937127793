/** The embedded API server without the rest of a cluster: importing it loads no controllers and no nodes. */
export { type StandaloneApiServer, startApiServer } from "./start-api-server.ts";
