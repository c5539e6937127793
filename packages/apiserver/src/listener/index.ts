/**
 * The way in for clients of any language: a port that speaks HTTP/1.1, HTTP/2 and WebSocket behind TLS, and the certificates
 * and kubeconfig that go with it.
 *
 * {@link listen} turns what comes over sockets into requests of the one transport that everything here speaks, and its
 * answers back. It takes a bare transport for programs on this machine, and a Guard for everybody else. It promises that a
 * slow or vanished client costs its own stream and a bounded buffer, and nothing else.
 */
export {
  Authority,
  type CertificateRequest,
  type Credential,
  certificateRequest,
  createAuthority,
} from "@konverge/certificates";
export { type KubeconfigOptions, kubeconfigText } from "./kubeconfig.ts";
export { type Listener, type ListenOptions, listen, type TlsOptions } from "./listen.ts";
export { ConnectionReset } from "./outgoing.ts";
export { SERVER_NAMES } from "./server-names.ts";
