import assert from "node:assert/strict";
import { test } from "node:test";
import { searchRank } from "./search-rank.ts";

test("the search shows guide pages before the reference, and the changelog last", () => {
  const pages = ["/changelog.html", "/guide/testing.html#faults", "/reference/api/konverge.html", "/readme.html"];
  const ranked = pages.toSorted((a, b) => searchRank(b) - searchRank(a));
  assert.deepEqual(ranked, [pages[1], pages[3], pages[2], pages[0]]);
  assert.ok(searchRank("/konverge/guide/status.html") > searchRank("/konverge/changelog.html"));
});

test("the function needs nothing outside of itself, because the page has only its text", () => {
  const alone = new Function(`return ${searchRank.toString()}`)() as typeof searchRank;
  assert.equal(alone("/guide/status.html"), searchRank("/guide/status.html"));
});
