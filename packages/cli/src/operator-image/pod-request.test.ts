import assert from "node:assert/strict";
import { test } from "node:test";
import type { OperatorObjects } from "../manifests/operator-objects.ts";
import type { OperatorCatalog } from "./catalog.ts";
import { podRequest } from "./pod-request.ts";

const objects = {} as OperatorObjects;
const catalog: OperatorCatalog = {
  operators: [
    { name: "greeting-operator", module: "file:///a.ts", settings: [{ flag: "word", env: "GREETING_WORD" }], objects },
    { name: "other-operator", module: "file:///a.ts", settings: [{ flag: "size" }], objects },
  ],
  code: [],
};
const request = (args: string[], env: Record<string, string> = {}) => podRequest(args, env, catalog, () => {});

test("what a Deployment of an operator has is understood: its name, its settings, its addresses", () => {
  const env = { LOG_LEVEL: "debug", POD_NAME: "p", POD_NAMESPACE: "default", GREETING_WORD: "Salut" };
  assert.deepEqual(request(["run", "--operators=greeting", "--leader-elect", "--word", "Hi"], env), {
    modules: ["file:///a.ts"],
    operators: ["greeting-operator"],
    settings: { word: "Hi" },
    env: { LOG_LEVEL: "debug", POD_NAME: "p", GREETING_WORD: "Salut" },
    options: {
      leaderElect: true,
      metricsBindAddress: { port: 8080 },
      healthProbeBindAddress: { port: 8081 },
      webhooks: "auto",
      webhookPort: 9443,
    },
  });
  assert.deepEqual(request(["run"]).operators, ["greeting-operator", "other-operator"]);
  assert.deepEqual(request(["run"], { OPERATORS: "other" }).operators, ["other-operator"]);
});

test("settings are those of the chosen operators, in args and in the environment", () => {
  assert.throws(
    () => request(["run", "--operators=other", "--word=Hi"]),
    /unknown option --word: these operators have --size/,
  );
  assert.deepEqual(request(["run", "--operators=other"], { GREETING_WORD: "Salut" }).env, {});
  assert.throws(() => request(["run", "--operators=none"]), /no operator to run/);
});

test("variables that no operator has a setting for stay outside, whatever they are called", () => {
  const env = {
    NODE_OPTIONS: "--inspect",
    LD_PRELOAD: "x",
    KUBECONFIG: "/k",
    KONVERGE_SERVICE_ACCOUNT: "/a",
    HOME: "/h",
  };
  assert.deepEqual(request(["run"], env).env, {});
});
