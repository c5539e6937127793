import assert from "node:assert/strict";
import { test } from "node:test";
import { JsonPath, printValue } from "./json-path.ts";

const data = {
  kind: "List",
  nothing: null,
  ratio: 1.5,
  items: [
    {
      metadata: { name: "web", labels: { "app.io/name": "x" } },
      spec: { replicas: 3 },
      status: {
        conditions: [
          { type: "Ready", status: "True" },
          { type: "Progressing", status: "False" },
        ],
      },
    },
    { metadata: { name: "db" }, spec: { replicas: 1 }, status: { conditions: [{ type: "Ready", status: "False" }] } },
    { metadata: { name: "e)f" }, spec: { replicas: 10 }, tags: ["a", "b"] },
  ],
  empty: [],
  numbers: [5, 1, 2.5],
  only: { one: { deep: [{ three: 3 }] } },
};

/** What kubectl prints for each template (client-go 0.36). */
const PRINTED: [template: string, printed: string][] = [
  ["", ""],
  ["plain", "plain"],
  ["{.kind}", "List"],
  ["{$.kind}", "List"],
  ["{ .kind }", "List"],
  ["{['kind']}", "List"],
  ["a{.kind}b", "aListb"],
  ["{.items[*].metadata.name}", "web db e)f"],
  ["{.items[0].metadata.name}", "web"],
  ["{.items[-1].metadata.name}", "e)f"],
  ["{.items[0,2].metadata.name}", "web e)f"],
  ["{.items[:2].metadata.name}", "web db"],
  ["{.items[-2:].metadata.name}", "db e)f"],
  ["{.items[::2].metadata.name}", "web e)f"],
  ["{.items[1:1].metadata.name}", ""],
  ["{.items[*]['metadata.name','spec.replicas']}", "web db e)f 3 1 10"],
  [String.raw`{.items[0].metadata.labels.app\.io/name}`, "x"],
  [String.raw`{.items[0].metadata.labels['app\.io/name']}`, "x"],
  ["{.items[0].metadata}", '{"labels":{"app.io/name":"x"},"name":"web"}'],
  ["{.nothing}", "null"],
  ["{.ratio}", "1.5"],
  ["{.empty}", "[]"],
  ["{.empty[*].x}", ""],
  ["{.items[?(@.spec.replicas>=3)].metadata.name}", "web e)f"],
  ["{.items[?(@.spec.replicas != 3)].metadata.name}", "db e)f"],
  ['{.items[?(@.metadata.name=="e)f")].spec.replicas}', "10"],
  ['{.items[*].status.conditions[?(@.type=="Ready")].status}', "True False"],
  ["{.items[?(@.tags)].metadata.name}", "e)f"],
  ["{.items[?(@.spec.replicas==@.spec.replicas)].metadata.name}", "web db e)f"],
  ["{..three}", "3"],
  ["{.only..three}", "3"],
  ["{.only.*.deep[0].three}", "3"],
  [String.raw`{range .items[*]}{.metadata.name}={.spec.replicas}{"\n"}{end}`, "web=3\ndb=1\ne)f=10\n"],
  ["{range .items[*]}[{range .status.conditions[*]}{.type},{end}]{end}!", "[Ready,Progressing,][Ready,][]!"],
  ["{range .empty[*]}{.x}{end}done", "done"],
  [String.raw`{"a\t\x41\u00e9\101"}`, "a\tAéA"],
  [String.raw`{'it\'s'}`, "it's"],
  ["{5} {true}", "5 true"],
  ["{.missing}", ""],
  ["{.kind.x}", ""],
];

test("templates print what kubectl prints", () => {
  for (const [template, printed] of PRINTED) {
    assert.equal(new JsonPath(template, { allowMissingKeys: true }).print(data), printed, template);
  }
});

/** What client-go says of each template. */
const REFUSED: [template: string, message: string][] = [
  ["{.missing}", "missing is not found"],
  ["{.items[*].missing}", "missing is not found"],
  ["{.nothing.x}", "x is not found"],
  ["{.items[5]}", "array index out of bounds: index 5, length 3"],
  ["{.items[2:1]}", "starting index 2 is greater than ending index 1"],
  ["{.items[0:3:0]}", "step must be > 0"],
  ["{.kind[0]}", "string is not array or slice"],
  ["{.only[0]}", "map[string]interface {} is not array or slice"],
  ["{.only[?(@.x)]}", "map[one:map[deep:[map[three:3]]]] is not array or slice and cannot be filtered"],
  ["{.numbers[?(@>1)]}", "incompatible types for comparison"],
  ["{.items[?(@.spec=='x')]}", "invalid type for comparison"],
  ["{.items[?(@.spec.replicas=3)]}", "unrecognized filter operator ="],
  ["{.items[?(@.status.conditions[*].type=='Ready')]}", "can only compare one element at a time"],
  ["{end}", "not in range, nothing to end"],
  ["{foo}", "unrecognized identifier foo"],
  ["{", "unclosed action"],
  ["{.kind\n}", "unclosed action"],
  ["{#}", "unrecognized character in action: U+0023 '#'"],
  ["{....}", "invalid multiple recursive descent"],
  ["{[}", "unterminated array"],
  ["{[a]}", "invalid array index a"],
  ["{[-]}", "array index - is not a number"],
  ["{.items[?(@.x}", "unterminated filter"],
  ["{.items[?(@.x)}", "unclosed array expect ]"],
  ["{'x", "unterminated quoted string"],
  [String.raw`{'\q'}`, String.raw`unquote string '\q' error invalid syntax`],
  ["{1.2.3}", "cannot parse number 1.2.3"],
];

test("what cannot be read or followed is refused in client-go's words", () => {
  for (const [template, message] of REFUSED) {
    assert.throws(() => new JsonPath(template).print(data), { name: "JsonPathError", message }, template);
  }
});

test("the values themselves can be had, one list for each piece of the template", () => {
  const path = new JsonPath("{.items[*].spec.replicas} of {.kind}");
  assert.deepEqual(path.find(data), [[3, 1, 10], [" of "], ["List"]]);
  assert.deepEqual(path.find(data), path.find(data), "a path can be used again");
});

test("a column shows one value as text", () => {
  assert.equal(printValue("x"), "x");
  assert.equal(printValue(1.5), "1.5");
  assert.equal(printValue(["a", 1]), '["a",1]');
});
