import { plannedChild } from "konverge";
import { ConfigMap, Deployment, Service } from "konverge/kinds";
import type { Website } from "./website.ts";

const labels = { app: "web" };

export const deployment = ({ metadata: { name }, spec: { image, replicas } }: Website) =>
  Deployment.draft({
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: "web",
              image,
              // error: 'containerPorts' does not exist in type
              ports: [{ containerPorts: 80 }],
            },
          ],
        },
      },
    },
  });

const given = { repilcas: 2, selector: { matchLabels: labels }, template: {} };
export const fromVariable = Deployment.draft({
  metadata: { name: "web" },
  // error: NoSuchField<"repilcas">
  spec: given,
});

export const field = ConfigMap.draft({
  metadata: { name: "web" },
  // error: NoSuchField<"imutable">
  imutable: true,
});

// error: Types of property 'dta' are incompatible
export const spread = (on: boolean) => ConfigMap.draft({ metadata: { name: "web" }, ...(on && { dta: {} }) });

export const numberAsText = ConfigMap.draft({
  metadata: { name: "web" },
  // error: Type 'number' is not assignable to type 'string'
  data: { port: 80 },
});

export const unnamed = Service.draft({
  // error: Property 'name' is missing
  metadata: { labels },
  spec: { ports: [{ port: 80 }] },
});

export const withoutSelector = Deployment.draft({
  metadata: { name: "web" },
  // error: Property 'selector' is missing
  spec: { template: {} },
});

export const wrongEnum = Service.draft({
  metadata: { name: "web" },
  // error: Type '"LoadBalanser"' is not assignable to type
  spec: { type: "LoadBalanser", ports: [{ port: 80 }] },
});

export const labelsOutside = ConfigMap.draft({
  metadata: { name: "web" },
  // error: NoSuchField<"labels">
  labels,
});

export const wrongKind = Deployment.draft({
  // error: Type '"Deploymnt"' is not assignable to type '"Deployment"'
  kind: "Deploymnt",
  metadata: { name: "web" },
  spec: { selector: {}, template: {} },
});

export const waits = plannedChild(ConfigMap.draft({ metadata: { name: "web" } }), {
  // error: Property 'phase' does not exist
  readyWhen: (child) => child.phase === "Ready",
});
