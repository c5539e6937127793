import type { FuzzRequest } from "./requests.ts";
import type { Sender } from "./send.ts";
import { STEADY } from "./targets.ts";

const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

/** A custom kind with what schemas can hold: rules, formats, patterns, lists with keys, embedded objects, unknown fields. */
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.fuzz.example.com" },
  spec: {
    group: "fuzz.example.com",
    scope: "Namespaced",
    names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                "x-kubernetes-validations": [
                  { rule: "!has(self.replicas) || self.replicas < 10", message: "too many" },
                ],
                properties: {
                  replicas: { type: "integer", format: "int32", minimum: 0, default: 1 },
                  name: { type: "string", pattern: "^([a-z]+)+$", maxLength: 100 },
                  when: { type: "string", format: "date-time" },
                  either: { "x-kubernetes-int-or-string": true },
                  items: {
                    type: "array",
                    maxItems: 1000,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    items: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
                  },
                  set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
                  object: {
                    type: "object",
                    "x-kubernetes-embedded-resource": true,
                    "x-kubernetes-preserve-unknown-fields": true,
                  },
                  anything: { "x-kubernetes-preserve-unknown-fields": true },
                },
              },
              status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
            },
          },
        },
      },
    ],
  },
};

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "running" },
  spec: {
    containers: [{ name: "c", image: "busybox", command: ["sh", "-c", "while true; do echo tick; sleep 1; done"] }],
  },
};

/** What requests need to reach more than "not found". */
export async function setUp(sender: Sender): Promise<void> {
  const call = async (method: string, target: string, object?: object) => {
    const body = Buffer.from(object ? JSON.stringify(object) : "");
    const headers = [["content-type", "application/json"]] as const;
    const request: FuzzRequest = { protocol: "h2", method, target, headers, body, framing: "length" };
    const { status, text } = await sender.send(request);
    if (status >= 300) throw new Error(`${method} ${target}: ${status} ${text}`);
    return text;
  };
  for (const name of ["fuzz", STEADY]) await call("POST", "/api/v1/namespaces", namespace(name));
  await call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  await call("POST", `/api/v1/namespaces/${STEADY}/configmaps`, { metadata: { name: "bystander" } });
  const pods = `/api/v1/namespaces/${STEADY}/pods`;
  // Pods need the default ServiceAccount of their namespace, which a controller creates.
  await retried(() => call("POST", pods, pod));
  await retried(async () => {
    const { status } = JSON.parse(await call("GET", `${pods}/running`)) as { status: { phase?: string } };
    if (status.phase !== "Running") throw new Error(`pod running is ${status.phase}`);
  });
}

async function retried(work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await work();
      return;
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
