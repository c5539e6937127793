import type { KubeObject } from "@konverge/core";
import { type Endpoint, EndpointSlice, Node, Pod, Service } from "@konverge/kinds";
import { cacheKind, type ReconcileContext, watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { controllersComponent } from "../../parts/part.ts";
import { SelectorIndex } from "../workloads/selector-index.ts";
import { type Backend, backendsOf, isHeadless } from "./backends.ts";
import { keepSlices, MANAGED_BY, SERVICE_NAME, type SlicePlan } from "./slices.ts";

const NAME = "endpoint-slice-controller";
const MANAGER = "endpointslice-controller.k8s.io";
const SLICE_SIZE = 100;
/** The retry delay while a pod's node is missing from the cache, in milliseconds. */
const NODE_WAIT = 1_000;

/** The selector of a service, if it has one: the endpoints of one without are written by others. */
export const serviceSelector = ({ spec }: Service) =>
  spec?.selector && spec.type !== "ExternalName" ? { matchLabels: spec.selector } : undefined;

/** Keeps the EndpointSlices of services that select pods. */
function endpointSliceController() {
  const selectors = new SelectorIndex<Service>(serviceSelector);
  return builtInController(Service, {
    name: NAME,
    when: selectors.follow,
    watches: [
      watchKind<Pod, Service>(Pod, { to: (pod) => selectors.matching(pod) }),
      watchKind<EndpointSlice, Service>(EndpointSlice, {
        indexes: { service: (slice) => [sliceKey(slice)] },
        to: (slice) => (slice.metadata.labels?.[MANAGED_BY] === MANAGER ? [sliceKey(slice)] : []),
      }),
      cacheKind(Node),
    ],
    async reconcile(service, context) {
      const selector = serviceSelector(service);
      if (!selector) return undefined;
      const selected = selectedPods(context, service);
      // A pod whose node is not known is left out until it is, unless the service wants all addresses at any time.
      const isPlaced = ({ spec }: Pod) =>
        service.spec?.publishNotReadyAddresses || context.cache.get(Node, spec?.nodeName ?? "");
      const pods = selected.filter(isPlaced);
      const groups = backendsOf(service, pods);
      const planned = groups.map(({ ports, backends }): SlicePlan => {
        return { addressType: "IPv4", ports, endpoints: backends.map((one) => endpointOf(context, service, one)) };
      });
      // A service without pods has one slice, which says so.
      const plans: SlicePlan[] = planned.length > 0 ? planned : [{ addressType: "IPv4", ports: [], endpoints: [] }];
      const existing = context.cache
        .find(EndpointSlice, "service", `${service.metadata.namespace}/${service.metadata.name}`)
        .filter(({ metadata }) => metadata.labels?.[MANAGED_BY] === MANAGER);
      const options = {
        kind: Service,
        owner: service,
        manager: MANAGER,
        serviceName: service.metadata.name,
        labels: service.metadata.labels ?? {},
        headless: isHeadless(service),
        size: SLICE_SIZE,
      };
      await keepSlices(context, options, existing, plans);
      const isMissingSome = selected.some((pod) => pod.spec?.nodeName && !isPlaced(pod));
      return isMissingSome ? { requeueAfter: NODE_WAIT } : undefined;
    },
  });
}

/** The pods that a service selects. */
export function selectedPods({ cache }: ReconcileContext, service: Service): Pod[] {
  const wanted = Object.entries(service.spec?.selector ?? {});
  return cache
    .list(Pod, service.metadata.namespace)
    .filter(({ metadata }) => wanted.every(([key, value]) => metadata.labels?.[key] === value));
}

const sliceKey = ({ metadata }: KubeObject) => `${metadata.namespace}/${metadata.labels?.[SERVICE_NAME]}`;

function endpointOf({ cache }: ReconcileContext, service: Service, backend: Backend): Endpoint {
  const { pod, address, ready, serving, terminating } = backend;
  const { name, namespace, uid } = pod.metadata;
  const nodeName = pod.spec?.nodeName;
  const zone = nodeName && cache.get(Node, nodeName)?.metadata.labels?.["topology.kubernetes.io/zone"];
  const hasName = pod.spec?.hostname && pod.spec.subdomain === service.metadata.name;
  return {
    addresses: [address],
    conditions: { ready, serving, terminating },
    ...(hasName && { hostname: pod.spec!.hostname! }),
    targetRef: { kind: "Pod", namespace: namespace!, name, uid: uid! },
    ...(nodeName && { nodeName }),
    ...(zone && { zone }),
  };
}

/** Keeps EndpointSlices. */
export const endpointSlices = controllersComponent(NAME, [Service], () => [endpointSliceController()]);
