import { nameSuffix, parseJson } from "@konverge/core";
import type { Container, Pod, ServiceAccount } from "../resources/strategies/objects.ts";
import { type AdmissionAttributes, type AdmissionPlugin, isAbout, refusal } from "./attributes.ts";

const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
const MIRROR = "kubernetes.io/config.mirror";
const LIFETIME = 3607;

/** Pods run as a service account of their namespace, and find its token where programs look for it. */
export const serviceAccount: AdmissionPlugin = {
  name: "ServiceAccount",
  handles: (attributes) => attributes.operation === "CREATE" && isAbout(attributes, "/pods"),
  mutate(attributes) {
    const pod = attributes.object as unknown as Pod;
    const { spec } = pod;
    if (pod.metadata.annotations?.[MIRROR] !== undefined) return;
    spec.serviceAccountName ||= "default";
    spec.serviceAccount = spec.serviceAccountName;
    const account = accountOf(attributes, spec.serviceAccountName);
    if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(attributes, pod);
    if (!spec.imagePullSecrets?.length && account.imagePullSecrets?.length) {
      spec.imagePullSecrets = account.imagePullSecrets.map(({ name }) => ({ name: name ?? "" }));
    }
  },
  validate(attributes) {
    const pod = attributes.object as unknown as Pod;
    if (pod.metadata.annotations?.[MIRROR] === undefined) accountOf(attributes, pod.spec.serviceAccountName ?? "");
  },
};

function accountOf(attributes: AdmissionAttributes, name: string): ServiceAccount {
  const { namespace, call } = attributes;
  const entry = call.store.collection("/serviceaccounts").get(`${namespace}/${name}`);
  if (entry) return parseJson(entry.text) as ServiceAccount;
  const why = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
  throw refusal(attributes, why);
}

function mountToken({ call }: AdmissionAttributes, { spec }: Pod): void {
  const mountsIt = ({ volumeMounts = [] }: Container) => volumeMounts.some(({ mountPath }) => mountPath === MOUNT_PATH);
  const without = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].filter(
    (container) => !mountsIt(container),
  );
  if (without.length === 0) return;
  const existing = spec.volumes?.find(({ name }) => name.startsWith("kube-api-access-"))?.name;
  const name = existing ?? `kube-api-access-${nameSuffix(call.clock.random)}`;
  for (const container of without) {
    const mount = { name, readOnly: true, mountPath: MOUNT_PATH };
    container.volumeMounts = [...(container.volumeMounts ?? []), mount];
  }
  if (existing) return;
  const sources = [
    { serviceAccountToken: { expirationSeconds: LIFETIME, path: "token" } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    {
      downwardAPI: {
        items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
      },
    },
  ];
  spec.volumes = [...(spec.volumes ?? []), { name, projected: { sources, defaultMode: 0o644 } }];
}
