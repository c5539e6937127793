import assert from "node:assert/strict";
import { test } from "node:test";
import { goText, goType, toGoJson } from "./go-text.ts";
import { WholeFloat } from "./json.ts";

test("values are printed as fmt.Sprint prints them", () => {
  const printed: [unknown, string][] = [
    [null, "<nil>"],
    [true, "true"],
    ["a b", "a b"],
    [1000000, "1000000"],
    [9223372036854775807n, "9223372036854775807"],
    [1.5, "1.5"],
    [999999.5, "999999.5"],
    [1000000.5, "1.0000005e+06"],
    [1e20, "1e+20"],
    [1e100, "1e+100"],
    [0.0001, "0.0001"],
    [-0.00001, "-1e-05"],
    [new WholeFloat(1), "1"],
    [new WholeFloat(1000000), "1e+06"],
    [[1, "a", null], "[1 a <nil>]"],
    [{ b: { c: [] }, a: 1 }, "map[a:1 b:map[c:[]]]"],
  ];
  for (const [value, text] of printed) assert.equal(goText(value), text);
});

test("types are named as Go's decoder makes them", () => {
  const named: [unknown, string][] = [
    [null, "<nil>"],
    [true, "bool"],
    ["", "string"],
    [1, "int64"],
    [1n, "int64"],
    [1.5, "float64"],
    [1e20, "float64"],
    [new WholeFloat(1), "float64"],
    [[], "[]interface {}"],
    [{}, "map[string]interface {}"],
  ];
  for (const [value, name] of named) assert.equal(goType(value), name);
});

test("JSON is written as json.Marshal writes it: sorted, and safe in HTML", () => {
  assert.equal(
    toGoJson({ b: "<a&b>\u2028", a: [1, { z: null, y: 10n, x: new WholeFloat(2) }] }),
    String.raw`{"a":[1,{"x":2,"y":10,"z":null}],"b":"\u003ca\u0026b\u003e\u2028"}`,
  );
});
