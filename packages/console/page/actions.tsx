import type { ObjectSummary } from "../src/protocol.ts";
import type { JsonObject } from "./api.ts";

export function Actions(_: { object: ObjectSummary; full: JsonObject | undefined }) {
  return null;
}
