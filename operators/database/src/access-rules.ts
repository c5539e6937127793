import type { Database } from "./database.ts";
import type { Engine } from "./engines.ts";
import { hasSuperuserAccess } from "./superuser.ts";

/** Who may connect to a server from where, as pg_hba.conf has it: the first rule that fits counts. */
export function accessRules(rules: string, database: Database, { administrator }: Engine): string {
  const closed = `host all ${administrator} all reject\n`;
  const all = hasSuperuserAccess(database) ? rules : rules.replace(/^host all all /m, (rule) => `${closed}${rule}`);
  // With TLS required, no other connections are accepted from the network.
  return database.spec.tls?.required ? all.replaceAll(/^host /gm, "hostssl ") : all;
}
