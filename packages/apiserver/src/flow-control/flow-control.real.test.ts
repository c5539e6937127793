import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { askReal } from "../../test/ask-real.ts";
import { ApiServer } from "../server.ts";

const plane = findControlPlane();
const FLOW = "/apis/flowcontrol.apiserver.k8s.io/v1";

const USERS: readonly (readonly [name: string, ...groups: string[]])[] = [
  ["jane"],
  ["root", "system:masters"],
  ["system:node:n1", "system:nodes"],
  ["system:kube-controller-manager"],
  ["system:kube-scheduler"],
  [
    "system:serviceaccount:kube-system:endpoint-controller",
    "system:serviceaccounts",
    "system:serviceaccounts:kube-system",
  ],
  ["system:serviceaccount:default:robot", "system:serviceaccounts", "system:serviceaccounts:default"],
  ["system:anonymous", "system:unauthenticated"],
];

const REQUESTS: readonly (readonly [method: string, path: string])[] = [
  ["GET", "/healthz"],
  ["GET", "/readyz/ping"],
  ["GET", "/version"],
  ["GET", "/apis/apps/v1/deployments"],
  ["GET", "/api/v1/nodes/n1"],
  ["PATCH", "/api/v1/nodes/n1/status"],
  ["POST", "/api/v1/namespaces/default/events"],
  ["GET", "/api/v1/namespaces/kube-system/endpoints"],
  ["GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1"],
  ["GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"],
  ["POST", "/apis/authentication.k8s.io/v1/tokenreviews"],
  ["GET", "/api/v1/namespaces/default/pods/none/log"],
];

describe("requests belong to flow schemas as in a real server", { skip: plane.available ? false : plane.why }, () => {
  let cluster: RealCluster;
  const token = "root";
  const server = new ApiServer({ access: { tokens: [{ token, user: { name: "root", groups: ["system:masters"] } }] } });

  before(async () => {
    cluster = await startRealCluster();
  });
  after(async () => {
    server.close();
    await cluster?.stop();
  });

  test("the default schemas sort the same requests of the same users alike", async () => {
    type Named = { metadata: { uid: string; name: string } };
    const ofReal = (await askReal(cluster, "GET", `${FLOW}/flowschemas`)).body["items"] as Named[];
    const ofOurs = (await (await server.fetch(`http://server${FLOW}/flowschemas`)).json()) as { items: Named[] };
    const names = new Map([...ofReal, ...ofOurs.items].map(({ metadata }) => [metadata.uid, metadata.name]));
    for (const [name, ...groups] of USERS) {
      const headers = { "impersonate-user": name, ...(groups.length > 0 && { "impersonate-group": groups }) };
      for (const [method, path] of REQUESTS) {
        const real = await askReal(cluster, method, path, { headers });
        const authorization = `Bearer ${token}`;
        const ours = await server.guard.handle(
          { method, path, headers: { authorization, ...headers } },
          { address: "10.1.2.3" },
        );
        const header = "x-kubernetes-pf-flowschema-uid";
        const schema = (uid: unknown) => names.get(String(uid));
        assert.equal(schema(ours.headers[header]), schema(real.headers[header]), `${name} ${method} ${path}`);
      }
    }
  });
});
