import type { FieldError } from "konverge";
import { fieldForbidden, fieldInvalid } from "konverge/webhooks";
import type { Database } from "./database.ts";
import { engineOf } from "./engines.ts";

/** Why a value is not accepted, and what to do; undefined if it is. */
type Rule = (value: string, spec: Pick<Database["spec"], "instances" | "synchronous">) => string | undefined;

/** Parameters that the operator sets, with what to use in their place. */
const owned =
  (instead: string): Rule =>
  () =>
    `is set by the operator: ${instead}`;
const OMIT = owned("omit it");
const RECOVERS = owned("omit it; to restore a backup, create a DatabaseRestore");
const ARCHIVES = owned("omit it, and configure spec.backup");
const ENCRYPTS = owned("omit it, and configure spec.tls");
const REPLICATES = owned("omit it, and set spec.instances and spec.synchronous");

const TRUE = /^(on|true|yes|1)$/i;
const FALSE = /^(off|false|no|0)$/i;
const mustBe =
  (accepted: RegExp, word: string, because: string): Rule =>
  (value) =>
    accepted.test(value) ? undefined : `must be ${word}, because ${because}: omit it`;
const atLeast =
  (least: (spec: Parameters<Rule>[1]) => number, because: string): Rule =>
  (value, spec) =>
    Number(value) >= least(spec) ? undefined : `must be at least ${least(spec)}, because ${because}: raise or omit it`;

const CORRUPTS = "without it, a crash corrupts data";
const HIDES = "it hides corrupt data";

/** What would break a promise of the operator, or is the operator's own, by the name of the parameter in lower case. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...named(OMIT, "listen_addresses", "port", "unix_socket_directories", "unix_socket_group", "unix_socket_permissions"),
  ...named(OMIT, "data_directory", "config_file", "hba_file", "ident_file"),
  ...named(OMIT, "include", "include_dir", "include_if_exists", "wal_level", "hot_standby"),
  ...named(REPLICATES, "primary_conninfo", "primary_slot_name", "synchronous_standby_names", "promote_trigger_file"),
  ...named(ARCHIVES, "archive_mode", "archive_command", "archive_library", "archive_timeout"),
  ...named(RECOVERS, "restore_command", "archive_cleanup_command", "recovery_end_command", "recovery_min_apply_delay"),
  ...named(RECOVERS, "recovery_target", "recovery_target_action", "recovery_target_inclusive", "recovery_target_lsn"),
  ...named(RECOVERS, "recovery_target_name", "recovery_target_time", "recovery_target_timeline", "recovery_target_xid"),
  ...named(ENCRYPTS, "ssl", "ssl_cert_file", "ssl_key_file"),
  ["fsync", mustBe(TRUE, "on", CORRUPTS)],
  ["full_page_writes", mustBe(TRUE, "on", CORRUPTS)],
  ["data_sync_retry", mustBe(FALSE, "off", "a failed fsync loses data that a retry does not write")],
  ["zero_damaged_pages", mustBe(FALSE, "off", "it deletes what it cannot read")],
  ["ignore_checksum_failure", mustBe(FALSE, "off", HIDES)],
  ["ignore_invalid_pages", mustBe(FALSE, "off", HIDES)],
  ["restart_after_crash", mustBe(TRUE, "on", "the server could not recover from the crash of a connection")],
  ["password_encryption", mustBe(/^scram-sha-256$/i, "scram-sha-256", "servers accept no other passwords")],
  [
    "default_transaction_read_only",
    mustBe(FALSE, "off", "the operator could not set passwords (ALTER ROLE … SET restricts one role)"),
  ],
  [
    "superuser_reserved_connections",
    atLeast(() => 1, "the operator queries a server whose connections are all in use"),
  ],
  ["max_wal_senders", atLeast(({ instances }) => instances + 2, "standbys, new standbys and backups each need one")],
  ["max_replication_slots", atLeast(({ instances }) => instances - 1, "each standby needs one")],
  ["synchronous_commit", synchronousCommit],
]);

function named(rule: Rule, ...names: readonly string[]): [string, Rule][] {
  return names.map((name) => [name, rule]);
}

/** A commit that standbys must confirm is acknowledged only when one of them has it on disk. */
function synchronousCommit(value: string, { synchronous }: Parameters<Rule>[1]): string | undefined {
  if (synchronous === 0 || TRUE.test(value) || /^remote_apply$/i.test(value)) return undefined;
  return (
    `must be on or remote_apply with spec.synchronous (${synchronous}), because commits would be acknowledged that no standby has: ` +
    "omit it, or set spec.synchronous to 0; a transaction that can be lost can set it for itself"
  );
}

/** The parameters that are not accepted, with the reason. */
export function parameterErrors({ metadata, spec }: Pick<Database, "metadata" | "spec">): FieldError[] {
  const engine = engineOf({ metadata, spec });
  return Object.entries(spec.parameters ?? {}).flatMap(([name, value]) => {
    const field = `spec.parameters[${name}]`;
    if (!/^[a-zA-Z_][a-zA-Z0-9_.-]*$/.test(name) || /[\n\r]/.test(value)) {
      return fieldInvalid(field, name, "must be the name of a setting, and its value one line");
    }
    const message = engine.name === "postgres" ? RULES.get(name.toLowerCase())?.(value, spec) : undefined;
    return message === undefined ? [] : fieldForbidden(field, message);
  });
}

/** The parameters that servers get: those of objects from before a rule are left out, and reported. */
export function acceptedParameters(database: Pick<Database, "metadata" | "spec">): Record<string, string> {
  const refused = new Set(parameterErrors(database).map(({ field }) => field));
  const entries = Object.entries(database.spec.parameters ?? {});
  return Object.fromEntries(entries.filter(([name]) => !refused.has(`spec.parameters[${name}]`)));
}
