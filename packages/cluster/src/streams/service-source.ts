import type { ApiServer } from "@konverge/apiserver";
import { EndpointSlice, Service } from "@konverge/kinds";
import type { Cache } from "@konverge/runtime";

/** Where the Services of a cluster and their EndpointSlices are read, without a request each. */
export interface ServiceSource {
  services(): Service[];
  service(namespace: string, name: string): Service | undefined;
  endpointSlices(namespace: string): EndpointSlice[];
}

/** Those of the embedded API server, out of its store. */
export function storedServices(store: ApiServer["store"]): ServiceSource {
  const read = <T>(collection: string, prefix: string) =>
    Array.from(store.collection(collection).scan(prefix), ({ text }) => JSON.parse(text) as T);
  return {
    services: () => read<Service>("/services", ""),
    service: (namespace, name) => {
      const entry = store.collection("/services").get(`${namespace}/${name}`);
      return entry && (JSON.parse(entry.text) as Service);
    },
    endpointSlices: (namespace) => read<EndpointSlice>("discovery.k8s.io/endpointslices", `${namespace}/`),
  };
}

/** Those of any API server, as watches report them. Resolves when they have been listed. */
export async function watchedServices(cache: Cache): Promise<ServiceSource> {
  const [services, slices] = [cache.use(Service), cache.use(EndpointSlice)];
  cache.start();
  await Promise.all([services.whenSynced(), slices.whenSynced()]);
  return {
    services: () => [...services.list()],
    service: (namespace, name) => services.get(`${namespace}/${name}`),
    endpointSlices: (namespace) => [...slices.list(namespace)],
  };
}
