import { readdirSync, readFileSync } from "node:fs";
import { ConfigMap } from "konverge/kinds";
import type { Database } from "./database.ts";
import { metadataOf, scriptsName } from "./names.ts";

/** Where pods find the scripts. */
export const SCRIPTS_FOLDER = "/scripts";
/** The volume with the scripts. */
export const SCRIPTS = "scripts";

const folder = new URL("../scripts/", import.meta.url);

/** The text of a script, by the name of its file: `script("server.sh")`. */
export function script(name: string): string {
  return readFileSync(new URL(name, folder), "utf8");
}

/** Read once: each reconcile of a database renders them. */
let all: Readonly<Record<string, string>> | undefined;
const allScripts = () => (all ??= readScripts());

function readScripts(): Readonly<Record<string, string>> {
  const names = readdirSync(folder).filter((name) => /\.(sh|sql)$/.test(name));
  return Object.freeze(Object.fromEntries(names.sort().map((name) => [name, script(name)])));
}

/** All scripts that pods of a database run. What differs from pod to pod comes to them in variables. */
export function scriptsFor(database: Database) {
  return ConfigMap.draft({ metadata: metadataOf(database, scriptsName(database)), data: allScripts() });
}

/** The volume that brings the scripts into a pod, and where it is mounted. */
export const scriptsVolume = (database: Database) => ({
  name: SCRIPTS,
  configMap: { name: scriptsName(database), defaultMode: 0o555 },
});
export const scriptsMount = { name: SCRIPTS, mountPath: SCRIPTS_FOLDER, readOnly: true };
