import type { Client } from "@konverge/client";
import { type KindRef, type KubeObject, parseQuantity, type Quantity, type QuantityValue } from "@konverge/core";
import {
  ConfigMap,
  type Container,
  PersistentVolumeClaim,
  Pod,
  ReplicationController,
  type ResourceQuota,
  ResourceQuota as ResourceQuotas,
  Secret,
  Service,
} from "@konverge/kinds";
import type { ServedKinds } from "../../parts/served-kinds.ts";
import { isTerminal } from "../workloads/pod-state.ts";

/** Kinds that are counted under their plain names. */
const COUNTED: Record<string, KindRef<KubeObject>> = {
  configmaps: ConfigMap,
  persistentvolumeclaims: PersistentVolumeClaim,
  replicationcontrollers: ReplicationController,
  resourcequotas: ResourceQuotas,
  secrets: Secret,
  services: Service,
};

/** Computes what is used of each resource that a quota limits. */
export async function usageOf(
  client: Client,
  kinds: ServedKinds,
  quota: ResourceQuota,
): Promise<Record<string, string>> {
  const namespace = quota.metadata.namespace!;
  const used: Record<string, string> = {};
  const lists = new Map<string, Promise<readonly KubeObject[]>>();
  const list = <T extends KubeObject>(kind: KindRef<T>): Promise<readonly T[]> => {
    const name = `${kind.group}/${kind.plural}`;
    const known: Promise<readonly KubeObject[]> =
      lists.get(name) ?? client.list(kind, { namespace }).then(({ items }) => items);
    lists.set(name, known);
    return known as Promise<readonly T[]>;
  };
  for (const name of Object.keys(quota.spec?.hard ?? {})) {
    used[name] = await usedOf(name, { list, kinds, quota });
  }
  return used;
}

interface Sources {
  list: <T extends KubeObject>(kind: KindRef<T>) => Promise<readonly T[]>;
  kinds: ServedKinds;
  quota: ResourceQuota;
}

async function usedOf(name: string, { list, kinds, quota }: Sources): Promise<string> {
  const counted = COUNTED[name] ?? countedBy(name, kinds);
  if (counted) return String((await list(counted)).length);
  if (name.startsWith("services.")) {
    const type = name === "services.loadbalancers" ? "LoadBalancer" : "NodePort";
    const services = (await list(Service)).filter(
      ({ spec }) => spec?.type === type || (type === "NodePort" && spec?.type === "LoadBalancer"),
    );
    return String(
      type === "NodePort" ? services.reduce((sum, { spec }) => sum + (spec?.ports?.length ?? 0), 0) : services.length,
    );
  }
  const [className, storageName] = /^(?:(.*)\.storageclass\.storage\.k8s\.io\/)?(.*)$/.exec(name)!.slice(1) as [
    string?,
    string?,
  ];
  if (storageName === "requests.storage" || (className && storageName === "persistentvolumeclaims")) {
    const claims = (await list(PersistentVolumeClaim)).filter(
      ({ spec }) => !className || spec?.storageClassName === className,
    );
    if (storageName !== "requests.storage") return String(claims.length);
    return total(claims.map(({ spec }) => spec?.resources?.requests?.["storage"]));
  }
  const pods = (await list(Pod)).filter((pod) => isInScope(quota, pod));
  if (name === "count/pods") return String(pods.length);
  const live = pods.filter((pod) => !isTerminal(pod));
  if (name === "pods") return String(live.length);
  const isLimit = name.startsWith("limits.");
  const resource = name.replace(/^(requests|limits)\./, "");
  return total(live.map((pod) => podAmount(pod, isLimit ? "limits" : "requests", resource)));
}

function countedBy(name: string, kinds: ServedKinds): KindRef<KubeObject> | undefined {
  if (!name.startsWith("count/") || name === "count/pods") return undefined;
  const [plural, ...group] = name.slice("count/".length).split(".");
  return kinds.all().find((kind) => kind.plural === plural && kind.group === group.join("."));
}

/** A pod's amount: the sum of its containers, or what one of its init containers takes, if that is more. */
function podAmount({ spec }: Pod, which: "requests" | "limits", resource: string): string {
  const amount = ({ resources }: Container) => resources?.[which]?.[resource] ?? "0";
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const inits = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy !== "Always");
  const running = sum([...(spec?.containers ?? []), ...sidecars].map(amount));
  const largest = [running, ...inits.map((one) => parseQuantity(amount(one)))].reduce((a, b) =>
    a.cmp(b) >= 0 ? a : b,
  );
  const overhead = spec?.overhead?.[resource];
  return String(overhead ? largest.add(parseQuantity(overhead)) : largest);
}

const sum = (amounts: readonly QuantityValue[]): Quantity =>
  amounts.reduce((whole, amount) => whole.add(parseQuantity(amount)), parseQuantity("0"));

const total = (amounts: readonly (QuantityValue | undefined)[]): string =>
  String(sum(amounts.map((amount) => amount ?? "0")));

/** Whether a quota with scopes is about a pod. */
function isInScope({ spec }: ResourceQuota, pod: Pod): boolean {
  const isTerminating = pod.spec?.activeDeadlineSeconds !== undefined;
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  const isBestEffort = containers.every(({ resources }) => {
    return Object.keys(resources?.requests ?? {}).length === 0 && Object.keys(resources?.limits ?? {}).length === 0;
  });
  const holds = (scope: string, operator = "Exists", values: readonly string[] = []): boolean => {
    switch (scope) {
      case "Terminating":
        return isTerminating;
      case "NotTerminating":
        return !isTerminating;
      case "BestEffort":
        return isBestEffort;
      case "NotBestEffort":
        return !isBestEffort;
      case "PriorityClass": {
        const name = pod.spec?.priorityClassName ?? "";
        if (operator === "Exists") return name !== "";
        if (operator === "DoesNotExist") return name === "";
        return values.includes(name) === (operator === "In");
      }
      default:
        return true;
    }
  };
  return (
    (spec?.scopes ?? []).every((scope) => holds(scope)) &&
    (spec?.scopeSelector?.matchExpressions ?? []).every(({ scopeName, operator, values }) =>
      holds(scopeName, operator, values),
    )
  );
}
