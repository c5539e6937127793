import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import {
  type ApiServerOptions,
  createAuthority,
  parseTokenFile,
  SERVER_NAMES,
  type TlsOptions,
} from "@konverge/apiserver";
import type { Clock } from "@konverge/core";
import type { AuditOptions } from "../up/audit.ts";
import { UsageError } from "../usage-error.ts";

/** What kube-apiserver's flags ask for, as far as it matters here. */
export interface ApiServerSetup {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsOptions;
  readonly admission: NonNullable<ApiServerOptions["admission"]>;
  readonly access: NonNullable<ApiServerOptions["access"]>;
  /** The minor version that is served: no flag of kube-apiserver's, but of the launcher that envtest starts. */
  readonly kubernetes?: string;
  /** Without both flags, kube-apiserver logs nothing. */
  readonly audit: AuditOptions;
}

/** The flags that {@link setupFrom} reads, as a help text. */
export const HELP = [
  "bind-address",
  "secure-port",
  "cert-dir",
  "tls-cert-file",
  "tls-private-key-file",
  "client-ca-file",
  "token-auth-file",
  "service-account-issuer",
  "service-account-key-file",
  "service-account-signing-key-file",
  "api-audiences",
  "enable-admission-plugins",
  "disable-admission-plugins",
  "audit-policy-file",
  "audit-log-path",
]
  .map((name) => `      --${name} string`)
  .join("\n");

/** The flags of a command line, in both spellings; of one that comes twice, the last. */
export function parseFlags(args: readonly string[]): Map<string, string> {
  const flags = new Map<string, string>();
  for (let i = 0; i < args.length; i++) {
    const [, name, value] = /^--?([\w-]+)(?:=(.*))?$/s.exec(args[i]!) ?? [];
    if (name === undefined) continue;
    const next = args[i + 1];
    if (value !== undefined) flags.set(name, value);
    else if (next !== undefined && !next.startsWith("-")) {
      flags.set(name, next);
      i++;
    } else flags.set(name, "true");
  }
  return flags;
}

/** Reads the flags that envtest passes to kube-apiserver. Others are accepted and ignored. */
export function setupFrom(args: readonly string[], clock: Clock): ApiServerSetup {
  const flags = parseFlags(args);
  const host = flags.get("bind-address") ?? "127.0.0.1";
  const fileOf = (flag: string, check?: (text: string) => unknown) => {
    const path = flags.get(flag);
    return path === undefined ? undefined : readChecked(`--${flag}`, path, check);
  };
  const listOf = (flag: string) => (flags.get(flag) ?? "").split(",").filter((name) => name !== "");
  const clientCa = fileOf("client-ca-file", (text) => new X509Certificate(text));
  const signingKey = fileOf("service-account-signing-key-file", createPrivateKey);
  const verificationKey = fileOf("service-account-key-file", createPublicKey);
  const issuer = flags.get("service-account-issuer");
  const audiences = flags.get("api-audiences");
  const tokens = fileOf("token-auth-file");
  const [auditPolicyFile, auditLogPath] = [flags.get("audit-policy-file"), flags.get("audit-log-path")];
  const kubernetes = flags.get("kubernetes");
  return {
    ...(kubernetes !== undefined && { kubernetes }),
    host: host === "0.0.0.0" ? "127.0.0.1" : host,
    port: portOf(flags.get("secure-port") ?? "6443"),
    tls: { ...servingCertificate(flags, clock), ...(clientCa && { clientCa }) },
    admission: { enable: listOf("enable-admission-plugins"), disable: listOf("disable-admission-plugins") },
    audit: auditPolicyFile && auditLogPath ? { auditPolicyFile, auditLogPath } : {},
    access: {
      serviceAccounts: {
        ...(signingKey && { signingKey }),
        ...(verificationKey && { verificationKeys: [verificationKey] }),
        ...(issuer && { issuer }),
        ...(audiences && { audiences: audiences.split(",") }),
      },
      ...(tokens && { tokens: parseTokenFile(tokens) }),
      ...(flags.get("anonymous-auth") === "false" && { anonymous: false }),
    },
  };
}

function portOf(text: string): number {
  if (/^\d+$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new UsageError(`--secure-port ${text}: it must be a number from 0 to 65535`);
}

function servingCertificate(flags: ReadonlyMap<string, string>, clock: Clock): { cert: string; key: string } {
  const folder = flags.get("cert-dir") ?? "";
  const certFile = flags.get("tls-cert-file") ?? join(folder, "apiserver.crt");
  const keyFile = flags.get("tls-private-key-file") ?? join(folder, "apiserver.key");
  const isAskedFor = flags.has("tls-cert-file") || flags.has("tls-private-key-file");
  // As kube-apiserver does: a certificate of its own, which only a client that does not look will accept.
  if (!isAskedFor && !(existsSync(certFile) && existsSync(keyFile)))
    return createAuthority(clock).server("kube-apiserver", SERVER_NAMES);
  const cert = readChecked("--tls-cert-file", certFile, (text) => new X509Certificate(text));
  // Without authorities of its own, the context would read those of the machine.
  const check = (text: string) => createSecureContext({ cert, key: text, ca: cert });
  const key = readChecked("--tls-private-key-file", keyFile, check);
  return { cert, key };
}

/** A file that a flag names. A server with half of its keys would start, and reject every client. */
function readChecked(flag: string, path: string, check: (text: string) => unknown = () => {}): string {
  try {
    const text = readFileSync(path, "utf8");
    check(text);
    return text;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${flag} ${path} cannot be used: ${why}`, { cause: error });
  }
}
