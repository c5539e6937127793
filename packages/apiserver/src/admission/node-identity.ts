import { certificateRequest } from "@konverge/certificates";
import { notFound, parseJson, quoted } from "@konverge/core";
import { resourceAttributes } from "../auth/attributes.ts";
import type { CertificateSigningRequest, Pod } from "../codec/objects.ts";
import { type AdmissionAttributes, refusal } from "./attributes.ts";

const NODE_SIGNERS = ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"];

/** A node asks for certificates in its own name only. */
export function checkNodeRequest(attributes: AdmissionAttributes, node: string): void {
  if (attributes.operation !== "CREATE") return;
  const { spec } = attributes.object as unknown as CertificateSigningRequest;
  if (!NODE_SIGNERS.includes(spec.signerName)) return;
  if (certificateRequest(spec.request).commonName === `system:node:${node}`) return;
  throw refusal(attributes, `can only create a node CSR with CN=system:node:${node}`);
}

interface TokenRequest {
  spec: { audiences?: string[]; boundObjectRef?: { apiVersion?: string; kind?: string; name?: string; uid?: string } };
}

/** A node asks for tokens of the accounts of its pods only, and for the audiences that they name. */
export function checkTokenRequest(attributes: AdmissionAttributes, node: string): void {
  const { operation, subresource, call, namespace } = attributes;
  if (operation !== "CREATE" || subresource !== "token") return;
  const { spec } = attributes.object as unknown as TokenRequest;
  const { apiVersion, kind, name, uid } = spec.boundObjectRef ?? {};
  if (apiVersion !== "v1" || kind !== "Pod" || !name) {
    throw refusal(attributes, "node requested token not bound to a pod");
  }
  if (!uid) throw refusal(attributes, "node requested token with a pod binding without a uid");
  const entry = call.store.collection("/pods").get(`${namespace}/${name}`);
  if (!entry) throw notFound({ group: "", plural: "pods" }, name);
  if (entry.uid !== uid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw refusal(attributes, why);
  }
  const pod = parseJson(entry.text) as Pod;
  if (pod.spec.nodeName !== node) {
    throw refusal(attributes, "node requested token bound to a pod scheduled on a different node");
  }
  checkAudience(attributes, pod, spec.audiences ?? []);
}

function checkAudience(attributes: AdmissionAttributes, pod: Pod, audiences: readonly string[]): void {
  const { call, namespace, name } = attributes;
  if (audiences.length > 1) throw refusal(attributes, "node may only request 0 or 1 audiences");
  const audience = audiences[0] ?? "";
  if (audiencesOf(attributes, pod).has(audience)) return;
  const action = resourceAttributes("request-serviceaccounts-token-audience", { resource: audience, namespace, name });
  if (call.authorize(call.user, action).allowed) return;
  const who = `${call.user.name} is not authorized to request tokens for this audience`;
  throw refusal(attributes, `audience ${quoted(audience)} not found in pod spec volume, ${who}`);
}

/** For whom the tokens in a pod's volumes are: those it projects, and those its storage drivers want. */
function audiencesOf({ call, namespace }: AdmissionAttributes, { metadata, spec }: Pod): Set<string> {
  const find = <T>(resource: string, key: string) => {
    const entry = call.store.collection(resource).get(key);
    return entry && (parseJson(entry.text) as T);
  };
  const driverOfClaim = (claim: string) => {
    const volume = find<{ spec?: { volumeName?: string } }>("/persistentvolumeclaims", `${namespace}/${claim}`);
    const found = find<{ spec?: { csi?: { driver?: string } } }>("/persistentvolumes", volume?.spec?.volumeName ?? "");
    return found?.spec?.csi?.driver;
  };
  const audiences = new Set<string>();
  for (const { name, projected, csi, ephemeral, persistentVolumeClaim } of spec.volumes ?? []) {
    for (const { serviceAccountToken } of projected?.sources ?? []) {
      if (serviceAccountToken) audiences.add(serviceAccountToken.audience ?? "");
    }
    const claim = ephemeral?.volumeClaimTemplate ? `${metadata.name}-${name}` : persistentVolumeClaim?.claimName;
    const driver = csi?.driver ?? (claim === undefined ? undefined : driverOfClaim(claim));
    const known = find<{ spec?: { tokenRequests?: { audience: string }[] } }>(
      "storage.k8s.io/csidrivers",
      driver ?? "",
    );
    for (const { audience } of known?.spec?.tokenRequests ?? []) audiences.add(audience);
  }
  return audiences;
}
