import assert from "node:assert/strict";
import { test } from "node:test";
import { quoted } from "./quoted.ts";

test("text is quoted as Go's %q quotes it", () => {
  assert.equal(quoted("plain text"), '"plain text"');
  assert.equal(quoted('say "hi" \\ bye'), String.raw`"say \"hi\" \\ bye"`);
  assert.equal(quoted("\x00\x07\b\f\n\r\t\v\x1b\x7f"), String.raw`"\x00\a\b\f\n\r\t\v\x1b\x7f"`);
  assert.equal(quoted("größe 模型 🚀"), '"größe 模型 🚀"');
  assert.equal(quoted("\u00a0\u200b\ufeff"), String.raw`"\u00a0\u200b\ufeff"`);
  assert.equal(quoted("\u{e0001}"), String.raw`"\U000e0001"`);
});
