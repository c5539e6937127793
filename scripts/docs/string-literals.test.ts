import assert from "node:assert/strict";
import { test } from "node:test";
import { stringLiterals } from "./string-literals.ts";

const textsOf = (source: string) => stringLiterals(source).map(({ text }) => text);

test("strings in both quotes and templates are found, with their lines", () => {
  assert.deepEqual(stringLiterals('const a = "one";\nconst b = \'two\';\n\nconst c = `three\nfour`;\nf("five");'), [
    { line: 1, text: "one" },
    { line: 2, text: "two" },
    { line: 4, text: "three\nfour" },
    { line: 6, text: "five" },
  ]);
});

test("quotes in comments and regular expressions start no literal", () => {
  assert.deepEqual(textsOf(`// don't\n/* "no" */ const a = /["'\`]\\//.test("yes"); const b = 4 / 2 / 1; g("it's");`), [
    "yes",
    "it's",
  ]);
  assert.deepEqual(textsOf(`// a comment\n/"/.test(x); h("after");`), ["after"]);
});

test("expressions in templates are read as code, and their strings are literals too", () => {
  assert.deepEqual(textsOf("const a = `x \u0024{b ? `y \u0024{c}` : { d: 'z' }.d} w`;"), ["y …", "z", "x … w"]);
});

test("escaped quotes do not end a literal, and an escaped line break separates words", () => {
  assert.deepEqual(textsOf('a("say \\"yes\\"\\nand no");'), ['say "yes" and no']);
});
