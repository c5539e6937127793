import type { Client } from "@konverge/client";
import { isAlreadyExists } from "@konverge/core";
import { ConfigMap, Namespace, Secret, ServiceAccount } from "@konverge/kinds";
import { watchKind } from "@konverge/runtime";
import { builtInController } from "../parts/built-in-controller.ts";
import { type ComponentContext, controllersComponent } from "../parts/part.ts";

const TOKEN_TYPE = "kubernetes.io/service-account-token";
const ACCOUNT_NAME = "kubernetes.io/service-account.name";
const ACCOUNT_UID = "kubernetes.io/service-account.uid";
const CA_NAME = "kube-root-ca.crt";
const CA_DESCRIPTION =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/** The namespace that users begin with: its account and certificate come with the cluster, not a moment later. */
const FIRST = "default";

/** Others may have been faster, or the state of an earlier cluster is taken up. */
const unlessThere = async (creation: Promise<unknown>): Promise<void> => {
  await creation.catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
};

// Direct writes: the account and the certificates exist in every namespace, and outlive this controller's knowledge of
// it.
const createAccount = (client: Client, namespace: string) =>
  unlessThere(client.create(ServiceAccount, { metadata: { name: "default", namespace } }));

function createCertificate(client: Client, namespace: string, rootCertificate: string): Promise<void> {
  const annotations = { "kubernetes.io/description": CA_DESCRIPTION };
  const metadata = { name: CA_NAME, namespace, annotations };
  return unlessThere(client.create(ConfigMap, { metadata, data: { "ca.crt": rootCertificate } }));
}

/** Gives every namespace its default service account. */
export const serviceAccounts = controllersComponent(
  "service-account-controller",
  "cluster",
  () => [
    builtInController(Namespace, {
      name: "service-account-controller",
      watches: [watchKind<ServiceAccount, Namespace>(ServiceAccount, { to: ({ metadata }) => [metadata.namespace!] })],
      async reconcile({ metadata: { name } }, { client, cache }) {
        if (!cache.get(ServiceAccount, `${name}/default`)) await createAccount(client, name);
        return undefined;
      },
    }),
  ],
  { prepare: ({ client }) => createAccount(client, FIRST) },
);

/** Puts the certificate of the cluster's authority into every namespace. */
export const rootCertificates = controllersComponent(
  "root-ca-cert-publisher",
  "cluster",
  ({ rootCertificate }: ComponentContext) => [
    builtInController(Namespace, {
      name: "root-ca-cert-publisher",
      watches: [
        watchKind<ConfigMap, Namespace>(ConfigMap, {
          fieldSelector: `metadata.name=${CA_NAME}`,
          to: ({ metadata }) => [metadata.namespace!],
        }),
      ],
      async reconcile({ metadata: { name: namespace } }, { client, cache }) {
        const known = cache.get(ConfigMap, `${namespace}/${CA_NAME}`);
        if (!known) await createCertificate(client, namespace, rootCertificate);
        else if (known.data?.["ca.crt"] !== rootCertificate || Object.keys(known.data).length !== 1) {
          await client.update(ConfigMap, { ...known, data: { "ca.crt": rootCertificate } });
        }
        return undefined;
      },
    }),
  ],
  { prepare: ({ client, rootCertificate }) => createCertificate(client, FIRST, rootCertificate) },
);

const encode = (text: string): string => Buffer.from(text).toString("base64");

/** Fills service account token Secrets, and deletes them when the account is deleted. */
export const accountTokens = controllersComponent(
  "tokens-controller",
  [Secret],
  ({ rootCertificate, secretToken }: ComponentContext) => [
    builtInController(Secret, {
      name: "tokens-controller",
      fieldSelector: `type=${TOKEN_TYPE}`,
      watches: [
        watchKind<ServiceAccount, Secret>(ServiceAccount, {
          references: (secret) => [`${secret.metadata.namespace}/${secret.metadata.annotations?.[ACCOUNT_NAME]}`],
        }),
      ],
      async reconcile(secret, { client, cache }) {
        const { name, namespace, annotations = {}, uid } = secret.metadata;
        const account = cache.get(ServiceAccount, `${namespace}/${annotations[ACCOUNT_NAME]}`);
        const wantedUid = annotations[ACCOUNT_UID];
        if (!account || (wantedUid && wantedUid !== account.metadata.uid)) {
          await client.delete(Secret, `${namespace}/${name}`, { preconditions: { uid: uid! } });
          return undefined;
        }
        const data = {
          ...secret.data,
          "ca.crt": secret.data?.["ca.crt"] ?? encode(rootCertificate),
          namespace: secret.data?.["namespace"] ?? encode(namespace!),
        };
        if (secret.data?.["token"] && secret.data["ca.crt"] && secret.data["namespace"] && wantedUid) return undefined;
        const serviceAccount = { name: account.metadata.name, uid: account.metadata.uid! };
        const token =
          secret.data?.["token"] ?? encode(secretToken({ namespace: namespace!, secretName: name, serviceAccount }));
        const metadata = { ...secret.metadata, annotations: { ...annotations, [ACCOUNT_UID]: account.metadata.uid! } };
        await client.update(Secret, { ...secret, metadata, data: { ...data, token } });
        return undefined;
      },
    }),
  ],
);
