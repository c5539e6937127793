import type { Socket } from "node:net";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import type { Peer, PeerCertificate } from "../auth/peer.ts";

/** Who is at the other end of a connection. */
export function connectionPeer(socket: Socket | TLSSocket): Peer {
  const address = (socket.remoteAddress ?? "").replace(/^::ffff:(?=\d+\.)/, "");
  // An HTTP/2 session shows its socket through a proxy, of which `in` knows nothing.
  const { getPeerCertificate } = socket as Partial<TLSSocket>;
  const certificate = getPeerCertificate ? peerCertificate(socket as TLSSocket) : undefined;
  return { address, ...(certificate && { certificate }) };
}

function peerCertificate(socket: TLSSocket): PeerCertificate | undefined {
  const shown = socket.getPeerCertificate(false) as DetailedPeerCertificate | undefined;
  if (!shown?.subject) return undefined;
  const { CN, O } = shown.subject as { CN?: string | string[]; O?: string | string[] };
  return {
    // Of several common names the last one counts, as in Go.
    commonName: [CN ?? ""].flat().at(-1) ?? "",
    organizations: [O ?? []].flat(),
    fingerprint: shown.fingerprint256.replaceAll(":", "").toLowerCase(),
    ...(!socket.authorized && { problem: String(socket.authorizationError ?? "it could not be verified") }),
  };
}
