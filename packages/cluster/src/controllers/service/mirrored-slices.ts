import { type Endpoint, type EndpointAddress, EndpointSlice, Endpoints, Service } from "@konverge/kinds";
import { watchKind } from "@konverge/runtime";
import { builtInController } from "../../parts/built-in-controller.ts";
import { controllersComponent } from "../../parts/part.ts";
import { keepSlices, MANAGED_BY, SERVICE_NAME, type SlicePlan } from "./slices.ts";

const NAME = "endpoint-slice-mirroring-controller";
const MANAGER = "endpointslicemirroring-controller.k8s.io";
const SKIP = "endpointslice.kubernetes.io/skip-mirror";
const LEADER = "control-plane.alpha.kubernetes.io/leader";
const LONGEST_SUBSET = 1000;

/** Copies Endpoints that users keep themselves into EndpointSlices. */
export const mirroredSlices = controllersComponent(NAME, [Endpoints], () => [
  builtInController(Endpoints, {
    name: NAME,
    watches: [
      watchKind<Service, Endpoints>(Service, { to: ({ metadata }) => [`${metadata.namespace}/${metadata.name}`] }),
      watchKind<EndpointSlice, Endpoints>(EndpointSlice, {
        indexes: { service: ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.[SERVICE_NAME]}`] },
        to: ({ metadata }) =>
          metadata.labels?.[MANAGED_BY] === MANAGER ? [`${metadata.namespace}/${metadata.labels[SERVICE_NAME]}`] : [],
      }),
    ],
    async reconcile(endpoints, context) {
      const { name, namespace, labels = {}, annotations = {} } = endpoints.metadata;
      const service = context.cache.get(Service, `${namespace}/${name}`);
      const isMirrored = service && !service.spec?.selector && labels[SKIP] !== "true" && !(LEADER in annotations);
      const existing = context.cache
        .find(EndpointSlice, "service", `${namespace}/${name}`)
        .filter(({ metadata }) => metadata.labels?.[MANAGED_BY] === MANAGER);
      const options = {
        kind: Endpoints,
        owner: endpoints,
        manager: MANAGER,
        serviceName: name,
        labels,
        headless: false,
        size: LONGEST_SUBSET,
      };
      await keepSlices(context, options, existing, isMirrored ? plansOf(endpoints) : []);
      return undefined;
    },
  }),
]);

function plansOf({ subsets = [] }: Endpoints): SlicePlan[] {
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
    const endpoint =
      (ready: boolean) =>
      (address: EndpointAddress): Endpoint => ({
        addresses: [address.ip],
        conditions: { ready },
        ...(address.hostname && { hostname: address.hostname }),
        ...(address.nodeName && { nodeName: address.nodeName }),
        ...(address.targetRef && { targetRef: address.targetRef }),
      });
    const all = [...addresses.map(endpoint(true)), ...notReadyAddresses.map(endpoint(false))];
    const isIPv6 = (one: Endpoint) => one.addresses[0]!.includes(":");
    return (["IPv4", "IPv6"] as const).flatMap((addressType) => {
      const endpoints = all.filter((one) => isIPv6(one) === (addressType === "IPv6"));
      const named = ports.map(({ name = "", port, protocol = "TCP" as const, appProtocol }) => ({
        name,
        port,
        protocol,
        ...(appProtocol && { appProtocol }),
      }));
      return endpoints.length > 0 ? [{ addressType, ports: named, endpoints }] : [];
    });
  });
}
