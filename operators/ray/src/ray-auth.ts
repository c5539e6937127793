import { type FieldError, permission, type ReconcileContext } from "konverge";
import { type Container, type EnvVar, Secret, type Volume, type VolumeMount } from "konverge/kinds";
import { truncatedName } from "konverge/objects";
import { fieldForbidden, fieldInvalid, fieldRequired } from "konverge/webhooks";
import type { RayCluster } from "./ray-cluster.ts";
import { isOlder } from "./ray-version.ts";

const CLUSTER = "ray.io/cluster";
/** The key of the token in its Secret, as upstream and Ray's documentation call it. */
export const TOKEN_KEY = "auth_token";
const TOKEN_LENGTH = 43;
/** Ray understands tokens since the first, and asks the API server about them since the second. */
const WITH_TOKENS = "2.52.0";
const WITH_KUBERNETES_TOKENS = "2.55.0";
const ACCOUNT_TOKEN = "ray-token";
const ACCOUNT_TOKEN_MOUNT: VolumeMount = {
  name: ACCOUNT_TOKEN,
  mountPath: "/var/run/secrets/ray.io/serviceaccount",
  readOnly: true,
};

type Spec = Pick<RayCluster, "spec">;
type Named = Spec & { readonly metadata: { readonly name: string } };

/** Whether Ray refuses requests without a token. Options without a mode ask for tokens. */
export const isAuthenticated = ({ spec }: Spec) =>
  spec.authOptions !== undefined && spec.authOptions.mode !== "disabled";

/** Whether Ray asks the API server who a token belongs to. */
const isDelegated = (cluster: Spec) =>
  isAuthenticated(cluster) && cluster.spec.authOptions?.enableK8sTokenAuth === true;

/** The Secret with the token of a cluster: the user's, or one that is made for it. Undefined if there is no such token. */
export function tokenSecretName(cluster: Named): string | undefined {
  if (!isAuthenticated(cluster) || isDelegated(cluster)) return undefined;
  return cluster.spec.authOptions?.secretName || truncatedName(cluster.metadata.name);
}

/** The token of a cluster for which the user has none. It stays as it is: all pods would have to be restarted with another. */
export function tokenSecretsFor(
  cluster: RayCluster,
  { observed, clock }: Pick<ReconcileContext, "observed" | "clock">,
) {
  const { name, namespace } = cluster.metadata;
  const secretName = tokenSecretName(cluster);
  if (!secretName || cluster.spec.authOptions?.secretName) return [];
  const draft = (token: string) =>
    Secret.draft({
      metadata: { name: secretName, namespace, labels: { [CLUSTER]: name } },
      type: "Opaque",
      data: { [TOKEN_KEY]: token },
    });
  const known = observed(draft(""))?.data?.[TOKEN_KEY];
  return [draft(known || Buffer.from(clock.secrets.text(TOKEN_LENGTH)).toString("base64"))];
}

/** What controllers that connect to dashboards may read: the Secret may be the user's. */
export const tokenPermission = permission(Secret, ["get"], {
  why: "reads the token of a RayCluster with authOptions, to send it to the cluster's dashboard",
});

/** What a container needs to speak with the cluster. What it says itself stays. */
export function tokenVariables(cluster: Named): EnvVar[] {
  if (!isAuthenticated(cluster)) return [];
  const name = tokenSecretName(cluster);
  return [
    { name: "RAY_AUTH_MODE", value: "token" },
    name === undefined
      ? { name: "RAY_ENABLE_K8S_TOKEN_AUTH", value: "true" }
      : { name: "RAY_AUTH_TOKEN", valueFrom: { secretKeyRef: { name, key: TOKEN_KEY } } },
  ];
}

/** The token of the pod's own account, which Ray sends with its requests if the API server decides about tokens. */
export const tokenMounts = (cluster: Spec): VolumeMount[] => (isDelegated(cluster) ? [ACCOUNT_TOKEN_MOUNT] : []);

export const tokenVolumes = (cluster: Spec): Volume[] =>
  isDelegated(cluster)
    ? [{ name: ACCOUNT_TOKEN, projected: { sources: [{ serviceAccountToken: { path: "token" } }] } }]
    : [];

/** A container that speaks with the cluster beside those of Ray. */
export function withToken(cluster: Named, container: Container): Container {
  const known = new Set(container.env?.map(({ name }) => name));
  return {
    ...container,
    env: [...(container.env ?? []), ...tokenVariables(cluster).filter((one) => !known.has(one.name))],
  };
}

/** Options that a version of Ray would ignore would leave the cluster open. */
export function authErrors(spec: RayCluster["spec"], at: string): FieldError[] {
  const { authOptions: options, rayVersion } = spec;
  if (!options) return [];
  if (!isAuthenticated({ spec }))
    return options.enableK8sTokenAuth
      ? [fieldInvalid(`${at}.authOptions.enableK8sTokenAuth`, true, "needs the mode token")]
      : [];
  const least = options.enableK8sTokenAuth ? WITH_KUBERNETES_TOKENS : WITH_TOKENS;
  const errors: FieldError[] = [];
  if (!rayVersion) errors.push(fieldRequired(`${at}.rayVersion`, `authentication needs Ray ${least} or newer`));
  else if (isOlder(rayVersion, least))
    errors.push(fieldInvalid(`${at}.rayVersion`, rayVersion, `authentication needs Ray ${least} or newer`));
  if (options.enableK8sTokenAuth && options.secretName)
    errors.push(fieldForbidden(`${at}.authOptions.secretName`, "with enableK8sTokenAuth there is no shared token"));
  return errors;
}
