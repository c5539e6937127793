import type { Clock } from "@konverge/core";
import type { ConnectionConfig } from "../config/connection-config.ts";
import { RenewedMaterial } from "../config/renewed-material.ts";

/** What a TLS connection to the server is made with. */
export interface TlsMaterial {
  ca?: string;
  cert?: string;
  key?: string;
  servername?: string;
  rejectUnauthorized: boolean;
}

/** Certificates live for hours at least: looking for new ones each minute is often enough. */
const CERTIFICATE_PERIOD = 60_000;

/** The authority and certificate to use, read again from their files now and then. */
export function tlsMaterial(clock: Clock, config: ConnectionConfig): () => Promise<TlsMaterial> {
  const [ca, cert, key] = [config.ca, config.cert, config.key].map(
    (material) => material && new RenewedMaterial(clock, material, CERTIFICATE_PERIOD),
  );
  return async () => ({
    ...(ca && { ca: await ca.get() }),
    ...(cert && key && { cert: await cert.get(), key: await key.get() }),
    ...(config.tlsServerName && { servername: config.tlsServerName }),
    rejectUnauthorized: !config.insecureSkipTlsVerify,
  });
}
