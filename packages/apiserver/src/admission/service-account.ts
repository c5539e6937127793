import { ApiError, nameSuffix, parseJson } from "@konverge/core";
import { secretsOf } from "../auth/node/references.ts";
import type { Container, Pod, ServiceAccount } from "../codec/objects.ts";
import { type AdmissionAttributes, type AdmissionPlugin, refusal } from "./attributes.ts";
import { mountableSecretsProblem } from "./mountable-secrets.ts";

const ACCOUNTS = "/serviceaccounts";
const DEFAULT = "default";
const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
const MIRROR = "kubernetes.io/config.mirror";
const LIFETIME = 3607;
/** How long a pod waits for its namespace's default account, which a controller makes. */
const PATIENCE_MS = 1500;

/** Pods run as a service account of their namespace, and find its token where programs look for it. */
export const serviceAccount: AdmissionPlugin = {
  name: "ServiceAccount",
  handles: ({ operation, group, resource, subresource }) =>
    group === "" &&
    resource === "pods" &&
    ((operation === "CREATE" && subresource === "") ||
      (operation === "UPDATE" && subresource === "ephemeralcontainers")),
  async mutate(attributes) {
    const pod = attributes.object as unknown as Pod;
    const { spec } = pod;
    if (attributes.operation !== "CREATE") return;
    if (isMirror(pod)) return judge(attributes);
    spec.serviceAccountName ||= DEFAULT;
    spec.serviceAccount = spec.serviceAccountName;
    if (spec.serviceAccountName === DEFAULT) await defaultAccount(attributes);
    const account = accountOf(attributes, spec.serviceAccountName);
    if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(attributes, pod);
    if (!spec.imagePullSecrets?.length && account.imagePullSecrets?.length) {
      spec.imagePullSecrets = account.imagePullSecrets.map(({ name }) => ({ name: name ?? "" }));
    }
    judge(attributes);
  },
  validate: judge,
};

function judge(attributes: AdmissionAttributes): void {
  const pod = attributes.object as unknown as Pod;
  const isNew = attributes.operation === "CREATE";
  if (isNew && isMirror(pod)) {
    checkMirror(attributes, pod);
    return;
  }
  const { serviceAccountName } = pod.spec;
  if (!serviceAccountName) {
    const { namespace, name } = attributes;
    throw refusal(attributes, `no service account specified for pod ${namespace}/${name}`);
  }
  const account = accountOf(attributes, serviceAccountName);
  const problem = mountableSecretsProblem(account, pod, isNew ? "pod" : "ephemeral");
  if (problem) throw isNew ? refusal(attributes, problem) : new ApiError({ code: 500, message: problem });
}

function isMirror({ metadata }: Pod): boolean {
  return metadata.annotations?.[MIRROR] !== undefined;
}

/** What stands for a static pod of a node has nothing that the node could not read without the API server. */
function checkMirror(attributes: AdmissionAttributes, pod: Pod): void {
  const { spec } = pod;
  if (spec.serviceAccountName) throw refusal(attributes, "a mirror pod may not reference service accounts");
  if (secretsOf(pod).length > 0) throw refusal(attributes, "a mirror pod may not reference secrets");
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  if (sources.some((source) => source.serviceAccountToken)) {
    throw refusal(attributes, "a mirror pod may not use ServiceAccountToken volume projections");
  }
}

/** Waits for the account that every namespace is given shortly after its creation. */
async function defaultAccount({ namespace, call }: AdmissionAttributes): Promise<void> {
  const { store, clock } = call;
  const exists = () => store.collection(ACCOUNTS).get(`${namespace}/${DEFAULT}`) !== undefined;
  if (exists()) return;
  await new Promise<void>((resolve) => {
    const stop = store.onChange(ACCOUNTS, () => exists() && done());
    const limit = clock.after(PATIENCE_MS, () => done(), { label: "default service account" });
    const done = () => {
      stop();
      limit.cancel();
      resolve();
    };
  });
}

function accountOf(attributes: AdmissionAttributes, name: string): ServiceAccount {
  const { namespace, call } = attributes;
  const entry = call.store.collection(ACCOUNTS).get(`${namespace}/${name}`);
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
