import { Pod } from "@konverge/kinds";
import type { App } from "../lib/app.ts";
import { reconciler } from "../lib/reconciler.ts";
import { ownedBy, setStatus, tolerant } from "../lib/steps.ts";
import { quorum, rollingUpgrade } from "./scenario.ts";

export const invariants = [quorum];

// The guard reads the cache, which does not show the member that was deleted a moment ago (opensearch-k8s-operator#1471).
export const scenario = rollingUpgrade(
  reconciler({
    watches: [Pod],
    create: () => {
      const replaced = new Set<string>();
      return async (name, app, context) => {
        if (!app) return;
        const { client, cached, namespace } = context;
        const { size, version } = app.spec;
        const isOwn = ({ metadata }: Pod) => metadata.ownerReferences?.[0]?.uid === app.metadata.uid;
        const pods = cached(Pod).list(name).filter(isOwn);
        for (let i = 0; i < size; i++) {
          if (!pods.some(({ metadata }) => metadata.name === `${name}-${i}`)) {
            await tolerant(client.create(Pod, member(app, i)));
          }
        }
        const outdated = pods.filter(({ metadata }) => metadata.labels?.["version"] !== version);
        const next = outdated.find(({ metadata: { uid = "" } }) => !replaced.has(uid));
        const guarded = pods;
        if (next && guarded.filter(isUp).length === size) {
          const { uid = "" } = next.metadata;
          await tolerant(client.delete(Pod, `${namespace}/${next.metadata.name}`, { preconditions: { uid } }));
          replaced.add(uid);
        }
        if (outdated.length === 0 && pods.filter(isUp).length === size) {
          await setStatus(context, app, { phase: `Ready ${version}` });
          return;
        }
        return 2_000;
      };
    },
  }),
);

function isUp({ metadata, status }: Pod): boolean {
  const isReady = status?.conditions?.some((one) => one.type === "Ready" && one.status === "True");
  return isReady === true && metadata.deletionTimestamp === undefined;
}

function member(app: App, i: number): Pod {
  const { name, namespace } = app.metadata;
  const labels = { app: name, version: app.spec.version };
  return {
    metadata: { name: `${name}-${i}`, namespace, labels, ...ownedBy(app) },
    spec: { containers: [{ name: "db", image: app.spec.image ?? "" }] },
  } as unknown as Pod;
}
