import { conditionTrue, controller, permission, watchKind } from "konverge";
import { ConfigMap, Deployment, Secret } from "konverge/kinds";
import { Website } from "./website.ts";

controller(Website, {
  reconcile(website) {
    // error: Property 'relicas' does not exist on type
    return { status: { readyReplicas: website.spec.relicas } };
  },
});

controller(Website, {
  // error: '{ readonly readyReplcas: number; }' has no properties in common
  reconcile({ spec }) {
    if (spec.replicas === 0) return;
    return { status: { readyReplcas: spec.replicas } };
  },
});

controller(Website, {
  // error: '{ readonly childs: readonly []; }' is not assignable
  async reconcile() {
    return { childs: [] };
  },
});

controller(Website, {
  // error: there is no field status.redyReplicas
  async reconcile({ spec }, { observed }) {
    if (spec.replicas === 0) return;
    if (!observed(Deployment, "web")) return { requeueAfter: 1000 };
    return { status: { url: "http://web", redyReplicas: spec.replicas } };
  },
});

controller(Website, {
  // error: 'phase' does not exist in type
  reconcile: () => ({ status: { phase: "Running" } }),
});

controller(Website, {
  // error: The types of 'status.readyReplicas' are incompatible
  reconcile() {
    return { status: { readyReplicas: "3" } };
  },
});

controller(Website, {
  // error: Types of property 'requeueAfter' are incompatible
  reconcile() {
    return { requeueAfter: "30s" };
  },
});

controller(Website, {
  // error: Type 'string' is not assignable to type 'number'
  reconcile: () => ({ requeueAfter: "30s" }),
});

controller(Website, {
  // error: Property 'reason' is missing
  reconcile: () => ({ conditions: { Ready: { status: "True" } } }),
});

controller(Website, {
  // error: there is no field conditions.Ready.resaon
  reconcile() {
    return { conditions: { Ready: { status: "True", reason: "Available", resaon: "Available" } } };
  },
});

controller(Website, {
  // error: Type 'boolean' is not assignable
  reconcile: () => ({ conditions: { Ready: true } }),
});

// error: Expected 1-2 arguments, but got 0
controller(Website, { reconcile: () => ({ conditions: { Ready: conditionTrue() } }) });

controller(Website, {
  owns: [ConfigMap],
  // error: Property '"make children with Kind.draft({ ... })"' is missing
  reconcile({ metadata: { name } }) {
    return { children: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, dta: {} }] };
  },
});

controller(Website, {
  // error: Type 'string' is not assignable to type
  owns: ["Deployment"],
  reconcile: () => undefined,
});

controller(Website, {
  // error: 'own' does not exist in type
  own: [Deployment],
  reconcile: () => undefined,
});

controller(Website, {
  reconcile(website) {
    // error: Cannot assign to 'replicas' because it is a read-only property
    website.spec.replicas = 3;
  },
});

controller(Website, {
  reconcile(website, { observed }) {
    const live = observed(Deployment, website.metadata.name);
    // error: Property 'push' does not exist on type 'readonly
    live?.spec?.template.spec?.containers.push({ name: "sidecar" });
    // error: Property 'redyReplicas' does not exist
    return { status: { readyReplicas: live?.status?.redyReplicas } };
  },
});

controller(Website, {
  reconcile(_website, { events }) {
    // error: Property 'error' does not exist on type 'EventSink'
    events.error("Failed", "it failed");
  },
});

controller(Website, {
  // error: Type '"read"' is not assignable to type
  permissions: [permission(Secret, ["read"])],
  reconcile: () => undefined,
});

controller(Website, {
  // error: Property 'secret' does not exist on type
  watches: [watchKind(Secret, { references: ({ metadata, spec }) => [`${metadata.namespace}/${spec.secret}`] })],
  reconcile: () => undefined,
});

controller(Website, {
  async reconcile(website, { client }) {
    const secret = client.get(Secret, `default/${website.metadata.name}`);
    // error: Property 'data' does not exist on type 'Promise
    return { status: { url: secret.data?.["url"] } };
  },
});

controller(Website, {
  // error: Type 'Promise<Secret>' has no properties in common
  reconcile(website, { client }) {
    return { status: client.get(Secret, `default/${website.metadata.name}`) };
  },
});

// error: Property 'cleanup' is missing
controller(Website, {
  finalizer: "example.com/cleanup",
  reconcile: () => undefined,
});
