import type { KubeObject } from "@konverge/core";
import { ConfigMap, type Container, type Pod, Secret, type Volume } from "@konverge/kinds";
import type { Cache, View } from "@konverge/runtime";

/** Every namespace gets it sooner or later, from whoever publishes the cluster's authority; nodes do not wait for it. */
const ROOT_CA = "kube-root-ca.crt";

interface Holder extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

/** Which ConfigMaps and Secrets there are, and with which keys: what decides whether a container can be made. */
export class ConfigSource {
  readonly #configMaps: View<ConfigMap>;
  readonly #secrets: View<Secret>;

  constructor(cache: Cache) {
    this.#configMaps = cache.use(ConfigMap);
    this.#secrets = cache.use(Secret);
  }

  async whenSynced(): Promise<void> {
    await Promise.all([this.#configMaps.whenSynced(), this.#secrets.whenSynced()]);
  }

  /** Calls back when one has come, gone or changed, with its namespace. */
  onChange(listener: (namespace: string) => void): void {
    const tell = ({ object }: { object: KubeObject }) => listener(object.metadata.namespace ?? "");
    this.#configMaps.subscribe(tell);
    this.#secrets.subscribe(tell);
  }

  /** Why a container's environment cannot be made. */
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
  volumeProblemOf({ metadata, spec }: Pod): string | undefined {
    const namespace = metadata.namespace ?? "";
    for (const volume of spec?.volumes ?? []) {
      const problem = this.#volumeProblem(namespace, volume);
      if (problem) return `MountVolume.SetUp failed for volume "${volume.name}" : ${problem}`;
    }
    return undefined;
  }

  #volumeProblem(namespace: string, { configMap, secret, projected }: Volume): string | undefined {
    if (configMap) return this.#missing("configmap", namespace, configMap);
    if (secret) return this.#missing("secret", namespace, { ...secret, name: secret.secretName });
    for (const source of projected?.sources ?? []) {
      const problem =
        (source.configMap && this.#missing("configmap", namespace, source.configMap)) ??
        (source.secret && this.#missing("secret", namespace, source.secret));
      if (problem) return problem;
    }
    return undefined;
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
    if (key === undefined || found.data?.[key] !== undefined || found.binaryData?.[key] !== undefined) return undefined;
    return `couldn't find key ${key} in ${kind === "configmap" ? "ConfigMap" : "Secret"} ${namespace}/${name}`;
  }
}
