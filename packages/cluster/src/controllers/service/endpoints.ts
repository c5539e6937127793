import { isNotFound } from "@konverge/core";
import { type EndpointAddress, Endpoints, Pod, Service } from "@konverge/kinds";
import { watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { controllersComponent } from "../../parts/part.ts";
import { SelectorIndex } from "../workloads/selector-index.ts";
import { sameStored } from "../workloads/status.ts";
import { type Backend, type BackendGroup, backendsOf, isHeadless } from "./backends.ts";
import { selectedPods, serviceSelector } from "./endpoint-slices.ts";

const NAME = "endpoint-controller";
const MANAGED_BY = "endpoints.kubernetes.io/managed-by";
const HEADLESS = "service.kubernetes.io/headless";

type Subset = NonNullable<Endpoints["subsets"]>[number];

/** Keeps the Endpoints of services that select pods. */
function endpointsController() {
  const selectors = new SelectorIndex<Service>(serviceSelector);
  return builtInController(Service, {
    name: NAME,
    when: selectors.follow,
    watches: [
      watchKind<Pod, Service>(Pod, { to: (pod) => selectors.matching(pod) }),
      watchKind<Endpoints, Service>(Endpoints, { to: ({ metadata }) => [`${metadata.namespace}/${metadata.name}`] }),
    ],
    async reconcile(service, context) {
      if (!serviceSelector(service)) return undefined;
      const { client, cache } = context;
      const { name, namespace, labels = {} } = service.metadata;
      const subsets = backendsOf(service, selectedPods(context, service)).map((group) => subsetOf(service, group));
      const wanted = { ...labels, [MANAGED_BY]: NAME, ...(isHeadless(service) && { [HEADLESS]: "" }) };
      const known = cache.get(Endpoints, `${namespace}/${name}`);
      if (!known)
        // Direct writes: Endpoints have no owner reference in Kubernetes: they are found by their name.
        await client.create(Endpoints, { metadata: { name, namespace: namespace!, labels: wanted }, subsets });
      else if (!sameStored(known.subsets, subsets) || !sameStored(known.metadata.labels, wanted)) {
        await client.update(Endpoints, { ...known, metadata: { ...known.metadata, labels: wanted }, subsets });
      }
      return undefined;
    },
  });
}

function subsetOf(service: Service, { ports, backends }: BackendGroup): Subset {
  const addresses = (isReady: boolean) =>
    backends
      .filter(({ ready, terminating }) => ready === isReady && (ready || !terminating))
      .map((one) => addressOf(service, one));
  const [ready, notReady] = [addresses(true), addresses(false)];
  return {
    ...(ready.length > 0 && { addresses: ready }),
    ...(notReady.length > 0 && { notReadyAddresses: notReady }),
    ...(ports.length > 0 && {
      ports: ports.map(({ name, ...port }) => ({ ...(name && { name }), ...port })),
    }),
  };
}

function addressOf(service: Service, { pod, address }: Backend): EndpointAddress {
  const { name, namespace, uid } = pod.metadata;
  const nodeName = pod.spec?.nodeName;
  const hasName = pod.spec?.hostname && pod.spec.subdomain === service.metadata.name;
  return {
    ip: address,
    ...(hasName && { hostname: pod.spec!.hostname! }),
    ...(nodeName && { nodeName }),
    targetRef: { kind: "Pod", namespace: namespace!, name, uid: uid! },
  };
}

/** Endpoints go with their service, although it does not own them. */
function endpointsWithoutService() {
  return builtInController(Endpoints, {
    name: "endpoint-controller: leftovers",
    watches: [
      watchKind<Service, Endpoints>(Service, { to: ({ metadata }) => [`${metadata.namespace}/${metadata.name}`] }),
    ],
    async reconcile({ metadata }, { client, cache }) {
      const key = `${metadata.namespace}/${metadata.name}`;
      if (metadata.labels?.[MANAGED_BY] !== NAME || cache.get(Service, key)) return undefined;
      await client.delete(Endpoints, key, { preconditions: { uid: metadata.uid! } }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      return undefined;
    },
  });
}

/** Keeps Endpoints. */
export const endpoints = controllersComponent(NAME, [Service], () => [
  endpointsController(),
  endpointsWithoutService(),
]);
