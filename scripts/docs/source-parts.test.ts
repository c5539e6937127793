import assert from "node:assert/strict";
import { test } from "node:test";
import { sourceParts } from "./source-parts.ts";

const textsOf = (source: string) => sourceParts(source).literals.map(({ text }) => text);

test("strings in both quotes and templates are found, with their lines", () => {
  assert.deepEqual(
    sourceParts('const a = "one";\nconst b = \'two\';\n\nconst c = `three\nfour`;\nf("five");').literals,
    [
      { line: 1, text: "one" },
      { line: 2, text: "two" },
      { line: 4, text: "three\nfour" },
      { line: 6, text: "five" },
    ],
  );
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

test("comments are found with their lines, without their marks", () => {
  const source = "// one\nconst a = 1; // two\n/**\n * Three.\n * Four.\n */\nconst b = '// no';\n";
  assert.deepEqual(sourceParts(source).comments, [
    { line: 1, text: " one" },
    { line: 2, text: " two" },
    { line: 3, text: "\nThree.\nFour.\n " },
  ]);
});

test("names are found where they first stand in the code", () => {
  const source = "const isWish = 1; // doubt\nreturn `a \u0024{isWish} b` + 'doomed' + graves.of(/fate/);";
  assert.deepEqual(sourceParts(source).names, [
    { line: 1, text: "const" },
    { line: 1, text: "isWish" },
    { line: 2, text: "return" },
    { line: 2, text: "graves" },
    { line: 2, text: "of" },
  ]);
});
