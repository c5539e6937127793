import type { KubeObject } from "@konverge/core";
import { ConfigMap, type Container, type Pod, Secret, ServiceAccount, type Volume } from "@konverge/kinds";
import type { Cache, CacheView } from "@konverge/runtime";
import { ClaimedVolumes } from "../controllers/volume/attachable.ts";
import { ephemeralClaimName, foreignClaimProblem } from "../controllers/volume/ephemeral-volumes.ts";

/** Every namespace gets it eventually, from the controller that publishes the cluster's authority; nodes do not wait for it. */
const ROOT_CA = "kube-root-ca.crt";

interface Holder extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

/**
 * What pods are made from, as far as it decides whether they can be: ConfigMaps and Secrets with their keys, service
 * accounts, and claims.
 */
export class ConfigSource {
  readonly #cache: Cache;
  readonly #configMaps: CacheView<ConfigMap>;
  readonly #secrets: CacheView<Secret>;
  readonly #accounts: CacheView<ServiceAccount>;
  /** Followed from the first pod on that has one: most clusters have none. */
  #claimed: ClaimedVolumes | undefined;
  #changed: (namespace: string | undefined) => void = () => {};

  constructor(cache: Cache) {
    this.#cache = cache;
    this.#configMaps = cache.use(ConfigMap);
    this.#secrets = cache.use(Secret);
    this.#accounts = cache.use(ServiceAccount);
  }

  async whenSynced(): Promise<void> {
    await Promise.all([this.#configMaps, this.#secrets, this.#accounts].map((view) => view.whenSynced()));
  }

  /** Calls back with the namespace in which one was created, changed or deleted; undefined: in any. */
  onChange(listener: (namespace: string | undefined) => void): void {
    this.#changed = listener;
    this.#configMaps.subscribe(this.#notify);
    this.#secrets.subscribe(this.#notify);
    this.#accounts.subscribe(this.#notify);
  }

  readonly #notify = ({ object }: { object: KubeObject }): void => this.#changed(object.metadata.namespace ?? "");

  /** Why a container's environment cannot be built. */
  problemOf({ metadata }: Pod, { env = [], envFrom = [] }: Container): string | undefined {
    const namespace = metadata.namespace ?? "";
    for (const { configMapRef, secretRef } of envFrom) {
      const problem =
        (configMapRef && this.#missing("configmap", namespace, configMapRef)) ??
        (secretRef && this.#missing("secret", namespace, secretRef));
      if (problem) return problem;
    }
    for (const { valueFrom } of env) {
      const { configMapKeyRef, secretKeyRef } = valueFrom ?? {};
      const problem =
        (configMapKeyRef && this.#missing("configmap", namespace, configMapKeyRef)) ??
        (secretKeyRef && this.#missing("secret", namespace, secretKeyRef));
      if (problem) return problem;
    }
    return undefined;
  }

  /** Why a pod's volumes cannot be mounted. */
  volumeProblemOf(pod: Pod): string | undefined {
    for (const volume of pod.spec?.volumes ?? []) {
      const problem = this.#volumeProblem(pod, volume);
      if (problem) return `MountVolume.SetUp failed for volume "${volume.name}" : ${problem}`;
      const ofClaim = this.#claimProblem(pod, volume);
      if (ofClaim) {
        const failed = `unmounted volumes=[${volume.name}], unattached volumes=[], failed to process volumes=[${volume.name}]`;
        return `Unable to attach or mount volumes: ${failed}: ${ofClaim}`;
      }
    }
    return undefined;
  }

  #volumeProblem(pod: Pod, { configMap, secret, projected }: Volume): string | undefined {
    const namespace = pod.metadata.namespace ?? "";
    if (configMap) return this.#missing("configmap", namespace, configMap);
    if (secret) return this.#missing("secret", namespace, { ...secret, name: secret.secretName });
    for (const source of projected?.sources ?? []) {
      const problem =
        (source.configMap && this.#missing("configmap", namespace, source.configMap)) ??
        (source.secret && this.#missing("secret", namespace, source.secret)) ??
        (source.serviceAccountToken && this.#missingAccount(namespace, pod.spec?.serviceAccountName));
      if (problem) return problem;
    }
    return undefined;
  }

  /** The scheduler waits for claims as well; a pod that names its node has gone round it. */
  #claimProblem(pod: Pod, volume: Volume): string | undefined {
    const { metadata } = pod;
    const { persistentVolumeClaim, ephemeral } = volume;
    const claimName = persistentVolumeClaim?.claimName ?? (ephemeral && ephemeralClaimName(pod, volume));
    if (claimName === undefined) return undefined;
    const claim = this.claimed.claims.get(`${metadata.namespace}/${claimName}`);
    const failed = `error processing PVC ${metadata.namespace}/${claimName}`;
    if (!claim) {
      return `${failed}: failed to fetch PVC from API server: persistentvolumeclaims "${claimName}" not found`;
    }
    const foreign = ephemeral && foreignClaimProblem(metadata, claim);
    if (foreign) return `${failed}: ${foreign}`;
    if (claim.metadata.deletionTimestamp) return `${failed}: PVC is being deleted`;
    return claim.status?.phase === "Bound" ? undefined : `${failed}: PVC is not bound`;
  }

  /** The volumes behind the claims of pods. */
  get claimed(): ClaimedVolumes {
    if (this.#claimed) return this.#claimed;
    this.#claimed = new ClaimedVolumes(this.#cache);
    this.#claimed.claims.subscribe(this.#notify);
    this.#claimed.volumes.subscribe(({ object }) => this.#changed(object.spec?.claimRef?.namespace));
    this.#claimed.drivers.subscribe(() => this.#changed(undefined));
    return this.#claimed;
  }

  #missingAccount(namespace: string, name = "default"): string | undefined {
    if (this.#accounts.get(`${namespace}/${name}`)) return undefined;
    return `failed to fetch token: serviceaccounts "${name}" not found`;
  }

  #missing(
    kind: "configmap" | "secret",
    namespace: string,
    { name = "", key, optional }: { name?: string; key?: string; optional?: boolean },
  ): string | undefined {
    if (optional || name === ROOT_CA) return undefined;
    const place = `${namespace}/${name}`;
    const found: Holder | undefined = kind === "configmap" ? this.#configMaps.get(place) : this.#secrets.get(place);
    if (!found) return `${kind} "${name}" not found`;
    const has = (data: object | undefined) => data !== undefined && Object.hasOwn(data, key ?? "");
    if (key === undefined || has(found.data) || has(found.binaryData)) return undefined;
    return `couldn't find key ${key} in ${kind === "configmap" ? "ConfigMap" : "Secret"} ${namespace}/${name}`;
  }
}
