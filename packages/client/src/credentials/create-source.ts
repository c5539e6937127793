import type { Clock } from "@konverge/core";
import type { ConnectionConfig } from "../config/connection-config.ts";
import { basic, type Credential, type CredentialSource, fixedCredential } from "./credential-source.ts";
import { tokenCredential } from "./token-credential.ts";

/** Where a connection's credentials come from. What runs programs or asks providers is loaded only when it is needed. */
export function createCredentialSource(clock: Clock, config: ConnectionConfig): CredentialSource {
  const { credentials } = config;
  if (!credentials) return fixedCredential({});
  if ("token" in credentials) return tokenCredential(clock, credentials.token);
  if ("username" in credentials) {
    return fixedCredential({ authorization: basic(credentials.username, credentials.password) });
  }
  if ("exec" in credentials) {
    return whenNeeded(async () => {
      const { ExecCredentialSource } = await import("./exec-credential.ts");
      return new ExecCredentialSource(clock, credentials.exec, await pluginCluster(config));
    });
  }
  return whenNeeded(async () => {
    const { OidcCredentialSource } = await import("./oidc-credential.ts");
    const { providerFetch } = await import("./provider-fetch.ts");
    return new OidcCredentialSource(clock, credentials.oidc, await providerFetch(credentials.oidc.ca));
  });
}

function whenNeeded(create: () => Promise<CredentialSource>): CredentialSource {
  let source: Promise<CredentialSource> | undefined;
  const made = () => {
    source ??= create();
    return source;
  };
  return {
    get: async () => (await made()).get(),
    renew: async (rejected: Credential) => (await made()).renew(rejected),
  };
}

async function pluginCluster(config: ConnectionConfig) {
  const { server, tlsServerName, insecureSkipTlsVerify, proxyUrl, ca, credentials } = config;
  const { readFile } = await import("node:fs/promises");
  const authority = ca && ("value" in ca ? ca.value : await readFile(ca.file, "utf8"));
  const clusterConfig = credentials && "exec" in credentials ? credentials.exec.clusterConfig : undefined;
  return {
    server,
    ...(tlsServerName && { "tls-server-name": tlsServerName }),
    ...(insecureSkipTlsVerify && { "insecure-skip-tls-verify": true }),
    ...(authority && { "certificate-authority-data": Buffer.from(authority).toString("base64") }),
    ...(proxyUrl && { "proxy-url": proxyUrl }),
    ...(clusterConfig !== undefined && { config: clusterConfig }),
  };
}
