import assert from "node:assert/strict";
import { test } from "node:test";
import { fileNameProblem } from "./file-names.ts";

test("the name of a file is one part of a path and nothing else", () => {
  for (const platform of ["linux", "darwin", "win32"]) {
    for (const name of ["", ".", "..", "a/b", "/", "../a", "a\0b"])
      assert.ok(fileNameProblem(name, platform), `${JSON.stringify(name)} on ${platform}`);
    for (const name of ["a", "..data", "...a", "state.db", "a b", "ü", "-rf"])
      assert.equal(fileNameProblem(name, platform), undefined, `${name} on ${platform}`);
  }
});

test("what Windows reads as a drive, a stream, a share, a device or another name is refused there alone", () => {
  const names = [
    "C:",
    "a:b",
    "a\\b",
    "\\\\server\\share",
    "CON",
    "nul.txt",
    "aux .a",
    "com1",
    "LPT²",
    "a.",
    "a ",
    "a*",
  ];
  for (const name of names) {
    assert.ok(fileNameProblem(name, "win32"), `${name} on win32`);
    assert.equal(fileNameProblem(name, "linux"), undefined, `${name} on linux`);
  }
  for (const name of ["console", "com10", "null", "lpt"]) assert.equal(fileNameProblem(name, "win32"), undefined, name);
});
