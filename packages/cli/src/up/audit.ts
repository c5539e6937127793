import { createWriteStream, readFileSync } from "node:fs";
import { finished } from "node:stream/promises";
import { AuditLog, parseAuditPolicy } from "@konverge/apiserver";
import type { Clock } from "@konverge/core";
import { parseYaml } from "@konverge/schema";
import { UsageError } from "../usage-error.ts";

/** kube-apiserver's flags of the same names. */
export interface AuditOptions {
  /** What is logged of which requests: an `audit.k8s.io/v1` Policy. */
  auditPolicyFile?: string;
  /** The file to append to; `-` is the standard output. */
  auditLogPath?: string;
}

/** An audit log that is open. */
export interface OpenAudit {
  readonly log: AuditLog;
  close(): Promise<void>;
}

/** Opens the audit log, if one is asked for. Without a policy nothing would be logged, so one takes the other. */
export async function openAudit(
  { auditPolicyFile, auditLogPath }: AuditOptions,
  clock: Clock,
): Promise<OpenAudit | undefined> {
  if (auditPolicyFile === undefined && auditLogPath === undefined) return undefined;
  if (auditPolicyFile === undefined) throw new UsageError("--audit-log-path needs a policy: add --audit-policy-file");
  if (auditLogPath === undefined) throw new UsageError("--audit-policy-file needs a log: add --audit-log-path");
  const policy = readPolicy(auditPolicyFile);
  if (auditLogPath === "-")
    return { log: new AuditLog({ policy, clock, sink: process.stdout }), close: async () => {} };
  // Bodies of requests may be in it, and with them Secrets.
  const sink = createWriteStream(auditLogPath, { flags: "a", mode: 0o600 });
  await new Promise<void>((resolve, reject) => {
    sink.once("open", () => resolve());
    sink.once("error", (cause) =>
      reject(new UsageError(`--audit-log-path ${auditLogPath} cannot be written: ${cause.message}`, { cause })),
    );
  });
  sink.on("error", (error) => console.error(`audit log ${auditLogPath}: ${error.message}`));
  const close = async () => {
    sink.end();
    await finished(sink).catch(() => {});
  };
  return { log: new AuditLog({ policy, clock, sink }), close };
}

function readPolicy(path: string) {
  try {
    return parseAuditPolicy(parseYaml(readFileSync(path, "utf8"))[0]);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`--audit-policy-file ${path} cannot be used: ${why}`, { cause });
  }
}
