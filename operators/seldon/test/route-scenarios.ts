import assert from "node:assert/strict";
import { installForeignKind, type Scenario, type TestEnvironment } from "@konverge/operator-suite";
import {
  DestinationRule,
  GRPCRoute,
  HTTPRoute,
  Mapping,
  type Route,
  SeldonDeployment,
  seldonOperator,
  VirtualService,
} from "@konverge/seldon-operator";
import { isNotFound, type TypedKind } from "konverge";
import { CustomResourceDefinition } from "konverge/kinds";
import { sample } from "./scenarios.ts";

type RouteKind = TypedKind<Route>;
const crdName = ({ plural, group }: RouteKind) => `${plural}.${group}`;

/** Installs the CRDs of routers, as far as the operator needs them, runs `play`, and deletes them. */
async function withKinds(stage: TestEnvironment, kinds: readonly RouteKind[], play: () => Promise<void>) {
  for (const kind of kinds) await installForeignKind(stage, kind);
  try {
    await play();
  } finally {
    for (const kind of kinds) {
      await stage.client.delete(CustomResourceDefinition, crdName(kind)).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
  }
}

const splits = (stage: TestEnvironment, words: RegExp) =>
  stage.until(`requests are split: ${words.source}`, async () => {
    const { status } = (await stage.find(SeldonDeployment, "sentiment")) ?? {};
    const condition = status?.conditions?.find(({ type }) => type === "TrafficSplit");
    return words.test(`${condition?.status} ${condition?.reason} ${condition?.message}`);
  });
const namesOf = async (stage: TestEnvironment, kind: RouteKind) =>
  (await stage.list(kind)).map(({ metadata }) => metadata.name).sort();

/** What the scenarios read of routes. */
interface VirtualServiceSpec {
  gateways: string[];
  hosts: string[];
  http: {
    route: { destination: { port: { number: number } }; weight: number }[];
    mirror?: { host: string };
    mirrorPercentage?: { value: number };
  }[];
}
interface GatewayRouteSpec {
  rules: { backendRefs: object[]; filters: { requestMirror?: { backendRef: { name: string } } }[] }[];
}

/** The informers of a router's kinds become ready one after the other, and so do its routes. */
const areThere = (stage: TestEnvironment, kind: RouteKind, names: readonly string[]) =>
  stage.until(`there are ${kind.plural}: ${names.join(", ")}`, async () => {
    return (await namesOf(stage, kind)).join() === [...names].sort().join();
  });

const specOf = async <T = Route["spec"]>(stage: TestEnvironment, kind: RouteKind, name: string) =>
  (await stage.get(kind, name)).spec as T;

/** The sample with other shares. */
const shared = (stable: number | string, canary: number | string) =>
  sample("graph").replace(/traffic: (90|10)/g, (_, share) => `traffic: ${share === "90" ? stable : canary}`);
/** The canary only gets copies, of half of the requests. */
const shadowed = () => shared(100, "50\n      shadow: true");

/** Without a router, the condition and an event say that requests are not split; the models are served all the same. */
export const withoutRouter: Scenario = async (stage) => {
  await stage.start(seldonOperator);
  await stage.apply(sample("graph"));
  await splits(stage, /^False NoRouter requests are not split .*VirtualService.*Mapping.*HTTPRoute/);
  await stage.until("it is available", async () => {
    return (await stage.get(SeldonDeployment, "sentiment")).status?.state === "Available";
  });
  assert.ok((await stage.events(SeldonDeployment, "sentiment")).some((event) => event.includes("NoRouter")));
  await withKinds(stage, [HTTPRoute], async () => {
    await splits(stage, /^True Routed HTTPRoute: 90 % to stable, 10 % to canary/);
  });
};

/** Istio: a VirtualService with weights, which follow the spec; rules of predictors that go, go. */
export const byIstio: Scenario = async (stage) => {
  await withKinds(stage, [VirtualService, DestinationRule], async () => {
    await stage.start(seldonOperator);
    await stage.apply(sample("graph"));
    await splits(stage, /^True Routed VirtualService: 90 % to stable, 10 % to canary/);
    const host = (predictor: string) => `sentiment-${predictor}.${stage.namespace}.svc.cluster.local`;
    await areThere(stage, VirtualService, ["sentiment"]);
    const spec = await specOf<VirtualServiceSpec>(stage, VirtualService, "sentiment");
    assert.deepEqual(spec.gateways, ["istio-system/seldon-gateway"]);
    assert.deepEqual(spec.http[0], {
      match: [{ uri: { prefix: `/seldon/${stage.namespace}/sentiment/` } }],
      rewrite: { uri: "/" },
      route: [
        { destination: { host: host("stable"), subset: "stable", port: { number: 8000 } }, weight: 90 },
        { destination: { host: host("canary"), subset: "canary", port: { number: 8000 } }, weight: 10 },
      ],
    });
    assert.equal(spec.http[1]?.route[1]?.destination.port.number, 5001);
    await areThere(stage, DestinationRule, ["sentiment-canary", "sentiment-stable"]);
    const { status } = await stage.get(SeldonDeployment, "sentiment");
    const condition = status?.conditions?.find(({ type }) => type === "istioVirtualServicesReady");
    assert.deepEqual([condition?.status, condition?.reason], ["True", "All VirtualServices created"]);

    await stage.apply(shadowed());
    await stage.until("the canary gets copies", async () => {
      const [http] = (await specOf<VirtualServiceSpec>(stage, VirtualService, "sentiment")).http;
      return http?.mirror?.host === host("canary") && http.mirrorPercentage?.value === 50 && http.route.length === 1;
    });
    await stage.apply(shared(70, 30));
    await stage.until("the shares follow, and nothing is copied", async () => {
      const [http] = (await specOf<VirtualServiceSpec>(stage, VirtualService, "sentiment")).http;
      return http?.route[0]?.weight === 70 && http.mirror === undefined;
    });
    // What is changed by hand comes back.
    await stage.client.patch(VirtualService, `${stage.namespace}/sentiment`, {
      merge: { spec: { hosts: ["mine"] } },
    } as never);
    await stage.until("it is repaired", async () => {
      return (await specOf<VirtualServiceSpec>(stage, VirtualService, "sentiment")).hosts[0] === "*";
    });
    await stage.client.patch(SeldonDeployment, `${stage.namespace}/sentiment`, {
      json: [
        { op: "remove", path: "/spec/predictors/1" },
        { op: "remove", path: "/spec/predictors/0/traffic" },
      ],
    });
    await stage.until("the rule of the canary is gone", async () => {
      return (await namesOf(stage, DestinationRule)).join() === "sentiment-stable";
    });
    await stage.client.delete(SeldonDeployment, `${stage.namespace}/sentiment`);
    await stage.until("routes go with their owner", async () => {
      return (await namesOf(stage, VirtualService)).length + (await namesOf(stage, DestinationRule)).length === 0;
    });
  });
};

/** Ambassador: Mappings with the weights of all but the first predictor. */
export const byAmbassador: Scenario = async (stage) => {
  await withKinds(stage, [Mapping], async () => {
    await stage.start(seldonOperator);
    await stage.apply(sample("graph"));
    await splits(stage, /^True Routed Mapping: 90 % to stable, 10 % to canary/);
    const mapping = (part: string) => `seldon-${stage.namespace}-sentiment-${part}`;
    await areThere(stage, Mapping, ["canary-grpc", "canary-rest", "stable-grpc", "stable-rest"].map(mapping));
    assert.deepEqual(await specOf(stage, Mapping, mapping("canary-rest")), {
      cluster_tag: "seldon_http",
      prefix: `/seldon/${stage.namespace}/sentiment/`,
      rewrite: "/",
      service: `sentiment-canary.${stage.namespace}:8000`,
      timeout_ms: 3000,
      weight: 10,
    });
    assert.equal((await specOf(stage, Mapping, mapping("stable-rest")))["weight"], undefined);
    assert.deepEqual((await specOf(stage, Mapping, mapping("stable-grpc")))["headers"], { seldon: "sentiment" });
    await stage.apply(shadowed());
    await stage.until("the canary gets copies", async () => {
      const { shadow, weight } = await specOf(stage, Mapping, mapping("canary-grpc"));
      return shadow === true && weight === 50;
    });
    await stage.client.patch(SeldonDeployment, `${stage.namespace}/sentiment`, {
      json: [{ op: "remove", path: "/spec/predictors/1" }],
    });
    await stage.until("the Mappings of the canary are gone", async () => {
      return (await namesOf(stage, Mapping)).join() === `${mapping("stable-grpc")},${mapping("stable-rest")}`;
    });
  });
};

/** The Gateway API: routes with weights; a router that is no longer in the settings loses its routes. */
export const byGatewayApi: Scenario = async (stage) => {
  await withKinds(stage, [HTTPRoute, GRPCRoute, VirtualService, DestinationRule], async () => {
    const operator = await stage.start(seldonOperator, { settings: { routers: "gateway", gateway: "edge/public" } });
    await stage.apply(sample("graph"));
    await splits(stage, /^True Routed HTTPRoute: 90 % to stable, 10 % to canary/);
    assert.deepEqual(await namesOf(stage, VirtualService), []);
    assert.deepEqual(await specOf(stage, HTTPRoute, "sentiment"), {
      parentRefs: [{ name: "public", namespace: "edge" }],
      rules: [
        {
          matches: [{ path: { type: "PathPrefix", value: `/seldon/${stage.namespace}/sentiment` } }],
          filters: [
            { type: "URLRewrite", urlRewrite: { path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/" } } },
          ],
          backendRefs: [
            { name: "sentiment-stable", port: 8000, weight: 90 },
            { name: "sentiment-canary", port: 8000, weight: 10 },
          ],
        },
      ],
    });
    await areThere(stage, GRPCRoute, ["sentiment"]);
    const grpc = await specOf<GatewayRouteSpec>(stage, GRPCRoute, "sentiment");
    assert.deepEqual(grpc.rules[0]?.backendRefs[1], { name: "sentiment-canary", port: 5001, weight: 10 });
    await stage.apply(shadowed());
    await stage.until("the canary gets copies", async () => {
      const { rules } = await specOf<GatewayRouteSpec>(stage, HTTPRoute, "sentiment");
      return rules[0]?.filters[1]?.requestMirror?.backendRef.name === "sentiment-canary";
    });
    await stage.apply(sample("explained"));
    await stage.until(
      "the explainer has a route",
      async () => !!(await stage.find(HTTPRoute, "income-main-explainer")),
    );
    await operator.stop();
    const other = await stage.start(seldonOperator, { settings: { routers: "istio" } });
    await stage.until("Istio has the routes", async () => {
      const left = [...(await namesOf(stage, HTTPRoute)), ...(await namesOf(stage, GRPCRoute))];
      return left.length === 0 && (await namesOf(stage, VirtualService)).length === 3;
    });
    await other.stop();
    await stage.start(seldonOperator, { settings: { routers: "" } });
    await stage.until("there are no routes", async () => {
      return (await namesOf(stage, VirtualService)).length + (await namesOf(stage, DestinationRule)).length === 0;
    });
    await splits(stage, /^False NoRouter .*set the operator's setting routers/);
  });
};
