import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type ApiServerOptions,
  createAuthority,
  parseTokenFile,
  SERVER_NAMES,
  type TlsOptions,
} from "@konverge/apiserver";
import type { Clock } from "@konverge/core";

/** What kube-apiserver's flags ask for, as far as it matters here. */
export interface ApiServerSetup {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsOptions;
  readonly admission: NonNullable<ApiServerOptions["admission"]>;
  readonly access: NonNullable<ApiServerOptions["access"]>;
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

/** Reads the flags that envtest, and whoever configures it, gives to kube-apiserver. Others are taken and ignored. */
export function setupFrom(args: readonly string[], clock: Clock): ApiServerSetup {
  const flags = parseFlags(args);
  const host = flags.get("bind-address") ?? "127.0.0.1";
  const fileOf = (flag: string) => {
    const path = flags.get(flag);
    return path === undefined ? undefined : readFileSync(path, "utf8");
  };
  const listOf = (flag: string) => (flags.get(flag) ?? "").split(",").filter((name) => name !== "");
  const clientCa = fileOf("client-ca-file");
  const signingKey = fileOf("service-account-signing-key-file");
  const verificationKey = fileOf("service-account-key-file");
  const issuer = flags.get("service-account-issuer");
  const audiences = flags.get("api-audiences");
  const tokens = fileOf("token-auth-file");
  return {
    host: host === "0.0.0.0" ? "127.0.0.1" : host,
    port: Number(flags.get("secure-port") ?? 6443),
    tls: { ...servingCertificate(flags, clock), ...(clientCa && { clientCa }) },
    admission: { enable: listOf("enable-admission-plugins"), disable: listOf("disable-admission-plugins") },
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

function servingCertificate(flags: ReadonlyMap<string, string>, clock: Clock): { cert: string; key: string } {
  const folder = flags.get("cert-dir") ?? "";
  const cert = flags.get("tls-cert-file") ?? join(folder, "apiserver.crt");
  const key = flags.get("tls-private-key-file") ?? join(folder, "apiserver.key");
  if (existsSync(cert) && existsSync(key)) return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  // As kube-apiserver does: a certificate of its own, which only a client that does not look will accept.
  return createAuthority(clock).server("kube-apiserver", SERVER_NAMES);
}
