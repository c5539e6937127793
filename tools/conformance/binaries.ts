import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { findControlPlane } from "@konverge/real";

/** The programs that a run needs. */
export interface Binaries {
  readonly e2e: string;
  readonly kubectl: string;
}

/** Finds e2e.test and kubectl, and builds them when they are not there yet. Throws with what is missing. */
export function prepare(): Binaries {
  const found = find();
  if (found) return found;
  const script = fileURLToPath(new URL("../real/build.ts", import.meta.url));
  const built = spawnSync(process.execPath, [script, "--e2e"], { stdio: ["ignore", 2, 2] });
  const after = built.status === 0 ? find() : undefined;
  if (!after) throw new Error('no e2e.test: see above, and try "npm run real:build -- --e2e"');
  return after;
}

function find(): Binaries | undefined {
  const plane = findControlPlane();
  if (!plane.available) return undefined;
  const { "e2e.test": e2e, kubectl } = plane.assets;
  return e2e && kubectl ? { e2e, kubectl } : undefined;
}
