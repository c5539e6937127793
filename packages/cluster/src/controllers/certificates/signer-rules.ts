import type { CertificateRequest } from "@konverge/apiserver";

/** Client certificates of any user. */
export const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";
/** Client certificates of nodes. */
export const KUBELET_CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";
/** Certificates with which nodes serve. */
export const KUBELET_SERVING_SIGNER = "kubernetes.io/kubelet-serving";
/** Without restrictions on the request. */
export const LEGACY_SIGNER = "kubernetes.io/legacy-unknown";

type Rule = (request: CertificateRequest, usages: readonly string[]) => string | undefined;

/** Why a request is invalid, by signer; undefined: it is valid. Requests of other signers are ignored. */
export const SIGNERS: Readonly<Record<string, Rule>> = {
  [CLIENT_SIGNER]: (_request, usages) => {
    const other = usages.find((usage) => !["digital signature", "key encipherment", "client auth"].includes(usage));
    if (other !== undefined) return `invalid usage for client certificate: ${other}`;
    if (!usages.includes("client auth")) return "missing required usage for client certificate: client auth";
    return undefined;
  },
  [KUBELET_CLIENT_SIGNER]: kubeletClientProblem,
  [KUBELET_SERVING_SIGNER]: ({ organizations, commonName, alternativeNames }, usages) => {
    const { dns, addresses, emails, uris } = alternativeNames;
    if (String(organizations) !== "system:nodes") return "subject organization is not system:nodes";
    if (dns.length === 0 && addresses === 0) return "DNS or IP subjectAltName is required";
    if (emails > 0) return "Email subjectAltNames are not allowed";
    if (uris > 0) return "URI subjectAltNames are not allowed";
    return usagesProblem(usages, "server auth") ?? nodeNameProblem(commonName);
  },
  [LEGACY_SIGNER]: () => undefined,
};

/** What keeps a request from being one for a node's client certificate. */
export function kubeletClientProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  const { dns, addresses, emails, uris } = request.alternativeNames;
  if (String(request.organizations) !== "system:nodes") return "subject organization is not system:nodes";
  if (dns.length > 0) return "DNS subjectAltNames are not allowed";
  if (emails > 0) return "Email subjectAltNames are not allowed";
  if (addresses > 0) return "IP subjectAltNames are not allowed";
  if (uris > 0) return "URI subjectAltNames are not allowed";
  return nodeNameProblem(request.commonName) ?? usagesProblem(usages, "client auth");
}

function nodeNameProblem(commonName: string): string | undefined {
  return commonName.startsWith("system:node:") ? undefined : "subject common name does not begin with system:node:";
}

/** Keys that are not RSA keys encipher nothing. */
function usagesProblem(usages: readonly string[], purpose: string): string | undefined {
  const sorted = String([...new Set(usages)].sort());
  const [least, all] = [
    ["digital signature", purpose],
    ["digital signature", "key encipherment", purpose],
  ].map((list) => list.sort());
  if (sorted === String(least) || sorted === String(all)) return undefined;
  return `usages did not match [${all!.join(" ")}]`;
}
