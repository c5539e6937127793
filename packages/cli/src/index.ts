/** The `konverge` command. */
export { LiveView } from "./live-view.ts";
