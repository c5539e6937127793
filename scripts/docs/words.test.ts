import assert from "node:assert/strict";
import { test } from "node:test";
import { codeFindings, markdownFindings, plainFindings, sourceFindings, unexcused } from "./words.ts";

const found = (text: string) => markdownFindings(text).map(({ line, found: word }) => `${line}: ${word}`);

test("an expression of the list is found with its line and what to write instead", () => {
  assert.deepEqual(markdownFindings("# Title\n\nNobody knows.\n"), [
    { line: 3, found: "Nobody", instead: "the user, another client, the caller, watchers", text: "Nobody knows." },
  ]);
});

test("every row of the style's list is covered", () => {
  const quaint = [
    "what shall be",
    "what is asked for",
    "a wish",
    "the user is told",
    "it tells of a change",
    "a complaint",
    "somebody",
    "whoever",
    "another look at it",
    "comes to rest",
    "is quiet",
    "mended",
    "made anew",
    "afresh",
    "once more",
    "takes nothing over",
    "lets go",
    "gives up",
    "leaves it alone",
    "its rights",
    "in doubt",
    "every so manieth",
    "so many",
    "for ever",
    "any that is free without it",
    "comes and goes",
    "a server of its own",
    "a yardstick",
    "proofs",
    "the fate of a pod",
  ];
  for (const text of quaint) assert.notDeepEqual(found(text), [], text);
});

test("American spelling is required", () => {
  assert.deepEqual(found("The behaviour of a normalised label, labelled twice."), [
    "1: behaviour",
    "1: labelled",
    "1: normalised",
  ]);
  assert.deepEqual(found("The behavior of a normalized finalizer, four realistic hours later."), []);
});

test("code, addresses and comments are not prose", () => {
  assert.deepEqual(found("```sh\nnobody\n```\n\n    whoever\n\n`nobody` in [a list](anew.md) <!-- mend -->"), []);
  assert.deepEqual(found("- item\n    - nobody"), ["2: nobody"]);
});

test("of a source, only literals of several words are read", () => {
  const source = 'const nobody = "nobody"; // somebody\nthrow new Error(`\u0024{name} is left alone`);\n';
  assert.deepEqual(
    sourceFindings(source).map(({ line, found: word }) => `${line}: ${word}`),
    ["2: left alone"],
  );
});

test("of a manifest or a script, every line is read", () => {
  const findings = plainFindings("# Nobody reads this.\ndescription: so many replicas\nreplicas: 3\n");
  assert.deepEqual(
    findings.map(({ line, found: word }) => `${line}: ${word}`),
    ["1: Nobody", "2: so many"],
  );
});

test("an exception excuses the line of one file that contains its text", () => {
  const findings = markdownFindings("KWOK's stages\nour stages");
  const exception = { file: "a.md", text: "KWOK's stages", reason: "its name" };
  const used = new Set<typeof exception>();
  assert.deepEqual(
    unexcused("a.md", findings, [exception], used).map(({ line }) => line),
    [2],
  );
  assert.equal(used.size, 1);
  assert.equal(unexcused("b.md", findings, [exception]).length, 2);
});

test("comments, names and test titles are checked, code in backticks and messages of tests are not", () => {
  const source = [
    "/** What is told to `nobody`. */",
    "const isWish = (doubts: number) => doubts > 0;",
    'test("a pod that is doomed", () => {',
    '  log("he told me so");',
  ].join("\n");
  assert.deepEqual(
    codeFindings(source).map(({ line, found }) => `${line}: ${found}`),
    ["1: is told", "1: told", "3: doomed", "2: isWish", "2: doubts"],
  );
});
