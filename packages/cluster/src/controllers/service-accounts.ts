import { isAlreadyExists } from "@konverge/core";
import { ConfigMap, Namespace, Secret, ServiceAccount } from "@konverge/kinds";
import { watch } from "@konverge/runtime";
import { builtInController } from "../parts/built-in-controller.ts";
import { controllersPart, type PartContext } from "../parts/part.ts";

const TOKEN_TYPE = "kubernetes.io/service-account-token";
const ACCOUNT_NAME = "kubernetes.io/service-account.name";
const ACCOUNT_UID = "kubernetes.io/service-account.uid";
const CA_NAME = "kube-root-ca.crt";
const CA_DESCRIPTION =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

const ignoreExisting = (error: unknown) => {
  if (!isAlreadyExists(error)) throw error;
};

/** Gives every namespace its default service account. */
export const serviceAccounts = controllersPart("service-account-controller", "cluster", () => [
  builtInController(Namespace, {
    name: "service-account-controller",
    watches: [watch<ServiceAccount, Namespace>(ServiceAccount, { to: ({ metadata }) => [metadata.namespace!] })],
    async reconcile({ metadata: { name } }, { client, cache }) {
      if (cache.get(ServiceAccount, `${name}/default`)) return undefined;
      await client.create(ServiceAccount, { metadata: { name: "default", namespace: name } }).catch(ignoreExisting);
      return undefined;
    },
  }),
]);

/** Puts the certificate of the cluster's authority into every namespace. */
export const rootCertificates = controllersPart(
  "root-ca-cert-publisher",
  "cluster",
  ({ rootCertificate }: PartContext) => [
    builtInController(Namespace, {
      name: "root-ca-cert-publisher",
      watches: [
        watch<ConfigMap, Namespace>(ConfigMap, {
          fieldSelector: `metadata.name=${CA_NAME}`,
          to: ({ metadata }) => [metadata.namespace!],
        }),
      ],
      async reconcile({ metadata: { name: namespace } }, { client, cache }) {
        const data = { "ca.crt": rootCertificate };
        const known = cache.get(ConfigMap, `${namespace}/${CA_NAME}`);
        if (!known) {
          const annotations = { "kubernetes.io/description": CA_DESCRIPTION };
          await client
            .create(ConfigMap, { metadata: { name: CA_NAME, namespace, annotations }, data })
            .catch(ignoreExisting);
        } else if (known.data?.["ca.crt"] !== rootCertificate || Object.keys(known.data).length !== 1) {
          await client.update(ConfigMap, { ...known, data });
        }
        return undefined;
      },
    }),
  ],
);

const encode = (text: string): string => Buffer.from(text).toString("base64");

/** Fills Secrets that ask for a service account's token, and removes them when the account is gone. */
export const accountTokens = controllersPart(
  "tokens-controller",
  [Secret],
  ({ rootCertificate, secretToken }: PartContext) => [
    builtInController(Secret, {
      name: "tokens-controller",
      fieldSelector: `type=${TOKEN_TYPE}`,
      watches: [
        watch<ServiceAccount, Secret>(ServiceAccount, {
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
