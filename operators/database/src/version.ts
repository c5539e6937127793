import type { Database } from "./database.ts";
import { engineOf } from "./engines.ts";

/** Why a version is not rolled out, if it is not. */
export function refusedVersion(database: Database): string | undefined {
  const { version } = database.spec;
  const running = database.status?.version;
  if (running === undefined || engineOf(database).name !== "postgres") return undefined;
  const [was, is] = [majorOf(running), majorOf(version)];
  if (was === undefined || is === undefined || was === is) return undefined;
  return (
    `version ${is} of PostgreSQL cannot read the data of version ${was}: the servers stay at ${running}; create a Database of ` +
    "the new version, dump this one into it (pg_dumpall), and set spec.version back here"
  );
}

/** The version that is rolled out: the requested one, unless it could not read the existing data. */
export function rolledVersion(database: Database): string {
  const running = database.status?.version;
  return refusedVersion(database) !== undefined && running !== undefined ? running : database.spec.version;
}

/** 16 of `16.4-alpine`; undefined where a version does not begin with a number. */
function majorOf(version: string): number | undefined {
  const [, major] = /^(\d+)/.exec(version) ?? [];
  return major === undefined ? undefined : Number(major);
}
