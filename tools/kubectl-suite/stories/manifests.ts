/** Objects that stories apply. */
export const configMap = (name: string, data: Record<string, string>, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});

export const pod = (name: string, more: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { app: name } },
  spec: { containers: [{ name: "main", image: "example.com/web:1", ports: [{ containerPort: 80 }] }], ...more },
});

export const deployment = (name: string, replicas = 2, image = "example.com/web:1") => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, labels: { app: name } },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "main", image, ports: [{ containerPort: 80, name: "http" }] }] },
    },
  },
});

export const service = (name: string) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
});

export const node = (name: string) => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels: { "node-role.kubernetes.io/worker": "", zone: "a" } },
  spec: { podCIDR: "192.168.1.0/24", podCIDRs: ["192.168.1.0/24"] },
});

/** A custom kind with everything that kubectl shows of one. */
export const widgetDefinition = (group: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", shortNames: ["wd"], categories: ["toys"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        additionalPrinterColumns: [
          { name: "Size", type: "integer", jsonPath: ".spec.size", description: "How big it is." },
          { name: "Colour", type: "string", jsonPath: ".spec.colour", priority: 1 },
          { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
        ],
        schema: {
          openAPIV3Schema: {
            type: "object",
            description: "A thing to play with.",
            properties: {
              spec: {
                type: "object",
                description: "What is wanted.",
                required: ["size"],
                properties: {
                  size: { type: "integer", minimum: 1, description: "How big it is, in metres." },
                  colour: { type: "string", enum: ["red", "blue"], default: "red" },
                  replicas: { type: "integer", format: "int32" },
                  parts: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    items: {
                      type: "object",
                      required: ["name"],
                      properties: { name: { type: "string" }, weight: { type: "number" } },
                    },
                  },
                },
              },
              status: {
                type: "object",
                properties: {
                  replicas: { type: "integer" },
                  conditions: {
                    type: "array",
                    items: {
                      type: "object",
                      properties: { type: { type: "string" }, status: { type: "string" } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
});

export const widget = (group: string, name: string, spec: object) => ({
  apiVersion: `${group}/v1`,
  kind: "Widget",
  metadata: { name },
  spec,
});
