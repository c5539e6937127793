import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { JsonObject } from "@konverge/core";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { encodeProtobuf } from "../../test/protobuf/encode.ts";
import { askReal } from "../../test/real-api.ts";
import { PROTOBUF_MEDIA_TYPE } from "./envelope.ts";
import { decodeProtobuf } from "./protobuf-body.ts";

const plane = findControlPlane();

const objects: [path: string, object: JsonObject][] = [
  [
    "/apis/apps/v1/namespaces/default/deployments",
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web", labels: { app: "web" } },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: "web" } },
        template: {
          metadata: { labels: { app: "web" } },
          spec: {
            containers: [
              {
                name: "web",
                image: "nginx",
                ports: [{ containerPort: 80 }],
                resources: { limits: { cpu: "1500m", memory: "1Gi" } },
                livenessProbe: { httpGet: { port: "http" }, periodSeconds: 5 },
              },
            ],
            volumes: [{ name: "v", emptyDir: {} }],
          },
        },
      },
    },
  ],
  [
    "/api/v1/namespaces/default/secrets",
    { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data: { a: "AAEC/w==" }, stringData: { b: "text" } },
  ],
  [
    "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "l" },
      spec: { holderIdentity: "me", leaseTransitions: 0, renewTime: "2026-01-02T03:04:05.678901Z" },
    },
  ],
  [
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.proto.example.com" },
      spec: {
        group: "proto.example.com",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: "object",
                properties: {
                  spec: {
                    type: "object",
                    additionalProperties: { type: "array", items: { type: "integer", maximum: 2.5, default: 1 } },
                  },
                },
              },
            },
          },
        ],
      },
    },
  ],
];

describe("protobuf bodies and a real API server", { skip: plane.available ? false : plane.why }, () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await startRealCluster();
  });
  after(() => cluster?.stop());

  for (const [path, object] of objects) {
    test(`a ${object["kind"]} sent as protobuf is the one sent as JSON`, async () => {
      const dryRun = `${path}?dryRun=All&fieldManager=me`;
      const asJson = await askReal(cluster, "POST", dryRun, object);
      const asProtobuf = await askReal(cluster, "POST", dryRun, encodeProtobuf(object), PROTOBUF_MEDIA_TYPE);
      assert.equal(asJson.status, 201, JSON.stringify(asJson.body));
      assert.deepEqual(timeless(asProtobuf.body), timeless(asJson.body));
      const stored = withoutNulls(asJson.body) as JsonObject;
      assert.deepEqual(withoutNulls(decodeProtobuf(encodeProtobuf(stored))), stored);
    });
  }
});

function timeless(object: JsonObject): unknown {
  return JSON.parse(JSON.stringify(object, (key, value) => (/^(uid|time|creationTimestamp)$/.test(key) ? "-" : value)));
}

function withoutNulls(object: JsonObject): unknown {
  return JSON.parse(JSON.stringify(object, (_key, value) => (value === null ? undefined : value)));
}
