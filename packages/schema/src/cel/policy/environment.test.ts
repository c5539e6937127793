import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuthorizationQuestion } from "../library/authorizer.ts";
import { CelEnvironment, POLICY_BUDGET } from "./environment.ts";
import { applyConfigurationOf, jsonPatchOf } from "./mutations.ts";

const object = { spec: { replicas: 3, names: ["a", "b"] } };

test("a variable is computed once for all expressions, and paid for by the first", () => {
  const environment = new CelEnvironment({
    variables: [{ name: "longNames", expression: "object.spec.names.filter(n, n.size() > 3)" }],
  });
  const activation = environment.activate({ object });
  const condition = environment.compile("variables.longNames.size() == 0", "condition");
  const first = activation.evaluate(condition, POLICY_BUDGET);
  const second = activation.evaluate(condition, first.budget);
  assert.equal(first.value, true);
  assert.equal(second.value, true);
  const [costs, again] = [POLICY_BUDGET - first.budget, first.budget - second.budget];
  assert.ok(again < costs, `${again} after ${costs}`);
});

test("variables see those before them and not those after", () => {
  const { variables } = new CelEnvironment({
    variables: [
      { name: "a", expression: "variables.b" },
      { name: "b", expression: "1" },
      { name: "c", expression: "variables.b + 1" },
    ],
  });
  assert.match(variables.get("a")!.error!, /^compilation failed: ERROR: <input>:1:10: undefined field 'b'/);
  assert.equal(variables.get("c")!.error, undefined);
});

test("a budget that is spent ends all", () => {
  const environment = new CelEnvironment();
  const condition = environment.compile("object.spec.replicas < 4 && object.spec.replicas > 2", "condition");
  assert.deepEqual(environment.activate({ object }).evaluate(condition, 3), {
    error: "validation failed due to running out of cost budget, no further validation rules will be run",
    budget: -1,
  });
});

test("an expression that does not compile says so when it is evaluated", () => {
  const environment = new CelEnvironment();
  const { error, budget } = environment.activate({}).evaluate(environment.compile("1", "condition"), 5);
  assert.equal(error, "compilation error: must evaluate to bool but got int");
  assert.equal(budget, 5);
});

test("the authorizer is asked about what the expression names", () => {
  const environment = new CelEnvironment({ authorizer: true });
  const asked: AuthorizationQuestion[] = [];
  const user = { name: "joe" };
  const activation = environment.activate({
    authorization: {
      user,
      decide: (question) => {
        asked.push(question);
        return { allowed: false, reason: "no", error: "not now" };
      },
      resource: { group: "apps", resource: "deployments", namespace: "a", name: "b" },
    },
  });
  const ask = (text: string) => activation.evaluate(environment.compile(text, "condition"), POLICY_BUDGET).value;
  assert.equal(ask("authorizer.requestResource.subresource('scale').check('update').reason() == 'no'"), true);
  assert.equal(ask("authorizer.path('/metrics').check('get').error() == 'not now'"), true);
  assert.equal(ask("authorizer.serviceAccount('x', 'y').group('').resource('pods').check('list').errored()"), true);
  const nothing = { subresource: "", namespace: "", name: "", fieldSelector: "", labelSelector: "" };
  assert.deepEqual(asked, [
    {
      user,
      verb: "update",
      resource: { ...nothing, group: "apps", resource: "deployments", namespace: "a", name: "b", subresource: "scale" },
    },
    { user, verb: "get", path: "/metrics" },
    {
      user: { name: "system:serviceaccount:x:y", groups: ["system:serviceaccounts", "system:serviceaccounts:x"] },
      verb: "list",
      resource: { ...nothing, group: "", resource: "pods" },
    },
  ]);
});

const mutating = new CelEnvironment({ patchTypes: true });
const resultOf = (text: string, purpose: "applyConfiguration" | "jsonPatch") => {
  const expression = mutating.compile(text, purpose);
  assert.equal(expression.error, undefined);
  return mutating.activate({ object }).evaluate(expression, POLICY_BUDGET).value!;
};

test("an apply configuration is the object that was built", () => {
  const text = "Object{spec: Object.spec{replicas: object.spec.replicas + 1, parts: [Object.spec.parts{name: 'a'}]}}";
  assert.deepEqual(applyConfigurationOf(resultOf(text, "applyConfiguration")), {
    change: { spec: { replicas: 4, parts: [{ name: "a" }] } },
  });
});

test("objects in an apply configuration are called as the fields they stand in", () => {
  const text = "Object{spec: Object.spec{a: Object.spec.b{}}, status: Object.state{}}";
  const problem = (is: string, expected: string) =>
    `unexpected type name "${is}", expected "${expected}", which matches field name path from root Object type`;
  assert.deepEqual(applyConfigurationOf(resultOf(text, "applyConfiguration")), {
    error: `type mismatch: ${problem("Object.spec.b", "Object.spec.a")}\n${problem("Object.state", "Object.status")}`,
  });
});

test("a JSON patch has the operations that were built, with values as JSON has them", () => {
  const text = `[
    JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('x/y~z'), value: [1, 9007199254740993]},
    JSONPatch{op: 'move', path: '/b', from: '/c'},
    JSONPatch{op: 'add', path: '/d', value: {'t': dyn(duration('90m')), 'b': dyn(b'hi'), 'n': dyn(null)}}
  ]`;
  assert.deepEqual(jsonPatchOf(resultOf(text, "jsonPatch")), {
    change: [
      { op: "add", path: "/a/x~1y~0z", value: [1, "9007199254740993"] },
      { op: "move", path: "/b", from: "/c" },
      { op: "add", path: "/d", value: { t: "5400s", b: "aGk=", n: null } },
    ],
  });
});

test("what is no JSON cannot be patched in", () => {
  const text = "[JSONPatch{op: 'add', path: '/a', value: semver('1.2.3')}]";
  const { error } = jsonPatchOf(resultOf(text, "jsonPatch")) as { error: string };
  assert.match(error, /could not marshal to JSON/);
});

test("expressions see further variables under the names that the environment gives them", () => {
  const environment = new CelEnvironment({ dynamic: ["objects"] });
  const condition = environment.compile("objects.exists(o, o.spec.replicas == 3)", "condition");
  assert.equal(environment.activate({ dynamic: { objects: [object] } }).evaluate(condition, POLICY_BUDGET).value, true);
  assert.match(environment.compile("others.size() == 0", "condition").error!, /undeclared reference to 'others'/);
});
