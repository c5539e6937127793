import type { Database } from "./database.ts";
import { LONGEST_UPGRADE_NAME } from "./database-upgrade.ts";
import { engineOf } from "./engines.ts";
import { isReplica } from "./replica-source.ts";

/** On a Database: the DatabaseUpgrade for which its servers are stopped. */
export const UPGRADING = "databases.example.com/upgrading";
/** On a Database that was upgraded in place: the version and the image that fit its data. */
export const RUNS = "databases.example.com/runs";

/** A version of the server, and the image that has it. */
export interface Release {
  readonly version: string;
  readonly image: string;
}

export const runsText = ({ version, image }: Release) => `${version} ${image}`;

/** What fits the data, as far as it is known: the major version is that of the annotation, the status has what was rolled out of it. */
function runningRelease({ metadata, status }: Database): Partial<Release> {
  const [version, image] = metadata.annotations?.[RUNS]?.split(" ") ?? [];
  const isOther = version !== undefined && majorOf(version) !== majorOf(status?.version ?? "");
  return version && image && isOther ? { version, image } : { version: status?.version, image: status?.image };
}

/** The other major version that is requested, if its data have to be upgraded for it, or cannot be. */
export function majorChange(database: Database): { readonly from: string; readonly isUpgrade: boolean } | undefined {
  const { version: from } = runningRelease(database);
  if (from === undefined || engineOf(database).name !== "postgres") return undefined;
  const [was, is] = [majorOf(from), majorOf(database.spec.version)];
  if (was === undefined || is === undefined || was === is) return undefined;
  return { from, isUpgrade: is > was };
}

/** The DatabaseUpgrade to the major version that is requested. */
export const upgradeName = ({ metadata, spec }: Database) => `${metadata.name}-to-${majorOf(spec.version)}`;

/** Why a version is not rolled out, if it is not. */
export function refusedVersion(database: Database): string | undefined {
  const change = majorChange(database);
  if (!change) return undefined;
  const name = upgradeName(database);
  if (isReplica(database))
    return `its servers are copies of another Database and have its major version: they stay at ${change.from}; set spec.version back, or promote it first`;
  if (change.isUpgrade) {
    if (name.length <= LONGEST_UPGRADE_NAME) return undefined;
    return `an upgrade in place would be a DatabaseUpgrade ${name}, a name with ${name.length - LONGEST_UPGRADE_NAME} characters too many`;
  }
  const [was, is] = [majorOf(change.from), majorOf(database.spec.version)];
  return (
    `version ${is} of PostgreSQL cannot read the data of version ${was}: the servers stay at ${change.from}; set spec.version back, or ` +
    "create a Database of the older version and load a dump into it (pg_dumpall)"
  );
}

/** The release that servers run: the requested one, unless it cannot read the data as they are. */
export function rolledRelease(database: Database, defaultImage: (version: string) => string): Release {
  const requested = {
    version: database.spec.version,
    image: database.spec.image ?? defaultImage(database.spec.version),
  };
  if (!majorChange(database)) return requested;
  const { version = requested.version, image } = runningRelease(database);
  return { version, image: image ?? database.spec.image ?? defaultImage(version) };
}

/** The version that is rolled out. */
export const rolledVersion = (database: Database): string => rolledRelease(database, String).version;

/** 16 of `16.4-alpine`; undefined where a version does not begin with a number. */
export function majorOf(version: string): number | undefined {
  const [, major] = /^(\d+)/.exec(version) ?? [];
  return major === undefined ? undefined : Number(major);
}
