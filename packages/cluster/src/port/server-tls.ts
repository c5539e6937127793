import { once } from "node:events";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { getCACertificates, type TLSSocket, connect as tlsConnect } from "node:tls";
import {
  CertPool,
  type Credential,
  certPoolFromPem,
  parseCertificatePem,
  serverChainProblem,
} from "@konverge/certificates";
import { realClock } from "@konverge/core";
import { abandon } from "../streams/dial.ts";

/** The authorities that are trusted: these, those of the machine, or any, so that every certificate will do. */
export type Roots = CertPool | "system" | "any";

/** The expected name of the server, and the authority of its certificate. */
export interface ServerIdentity {
  /** The name or address that its certificate has to be for. */
  readonly host: string;
  readonly roots: Roots;
  /** The client certificate that it is shown. */
  readonly credential?: Credential;
}

/**
 * Speaks TLS over a connection, which it then owns, and resolves when the server has proven who it is.
 *
 * Go's rules decide, not OpenSSL's: certificates that every real API server accepts would be refused, such as those that
 * knative and envtest make for webhooks (docs/decisions/025-certificates.md). OpenSSL therefore completes the handshake
 * with any certificate; nothing is sent before it has been verified, and the connection is cut when it is refused.
 */
export async function secured(
  connection: Duplex,
  { host, roots, credential }: ServerIdentity,
  signal?: AbortSignal,
): Promise<TLSSocket> {
  const name = host.replace(/\.+$/, "");
  const socket = tlsConnect({
    socket: connection,
    ...(isIP(name) === 0 && name !== "" && { servername: name }),
    ...(credential && { cert: credential.cert, key: credential.key }),
    // Without authorities, OpenSSL does not even try.
    ca: [],
    rejectUnauthorized: false,
  });
  try {
    await once(socket, "secureConnect", { ...(signal && { signal }) });
    const trusted = roots === "system" ? machineRoots() : roots === "any" ? undefined : roots;
    // Certificates are issued by programs that run in real time, even if the cluster's clock is virtual.
    const now = realClock().now();
    const problem = serverChainProblem(sentCertificates(socket), { roots: trusted, host, now });
    if (problem !== undefined) throw new Error(problem);
    return socket;
  } catch (error) {
    abandon(socket);
    abandon(connection);
    throw error;
  }
}

/** All certificates that a server has sent, in its order. Node gives them once: the list is consumed. */
function sentCertificates(socket: TLSSocket): Buffer[] {
  const certificates: Buffer[] = [];
  for (let one = socket.getPeerX509Certificate(); one; one = one.issuerCertificate) certificates.push(one.raw);
  return certificates;
}

/** The authorities in a `caBundle`: PEM in base64; those of the machine when it is empty. Throws in client-go's words. */
export function rootsIn(caBundle: string | undefined): Roots {
  return caBundle ? certPoolFromPem(Buffer.from(caBundle, "base64").toString()) : "system";
}

let ofMachine: CertPool | undefined;

/** The authorities that the machine trusts, and those that NODE_EXTRA_CA_CERTS names. Reading them takes a while. */
function machineRoots(): CertPool {
  ofMachine ??= new CertPool(
    [...new Set([...getCACertificates("system"), ...getCACertificates("extra")])].flatMap((text) => readable(text)),
  );
  return ofMachine;
}

function readable(text: string) {
  try {
    return [parseCertificatePem(text)];
  } catch {
    return [];
  }
}
