import assert from "node:assert/strict";
import { test } from "node:test";
import type { Rehearsal } from "./rehearsal.ts";
import { rehearsalJUnit, rehearsalPage, rehearsalText } from "./rehearsal-text.ts";

const load = { requests: 12, verbs: { list: 12 }, idleRequests: 0, idleMinutes: 5 };
const rehearsal: Rehearsal = {
  name: "store-operator",
  objects: 40,
  findings: [
    {
      type: "restart",
      resource: "statefulsets.apps",
      objects: ["a/1", "a/2", "a/3", "a/4"],
      message: "its pods are replaced",
    },
    { type: "write", resource: "stores.example.com", objects: ["a/1"], message: 'spec.text: "<b>" becomes "&"' },
  ],
  load: { new: load, old: load },
  crashes: 2,
  notes: [],
};

test("the text names three objects of a finding and counts the others", () => {
  assert.equal(
    rehearsalText(rehearsal),
    `restart: statefulsets.apps a/1, a/2, a/3 and 1 more: its pods are replaced
write: stores.example.com a/1: spec.text: "<b>" becomes "&"
2 crashes of the new version tried
requests: 12 by the new version (0 of them in 5 minutes without work), 12 by the old one (0 of them in 5 minutes without work)
store-operator, rehearsed on 40 objects: 2 findings
`,
  );
});

test("the JUnit report and the page have all objects, and nothing that markup could be mistaken for", () => {
  const report = rehearsalJUnit(rehearsal);
  assert.match(report, /<testsuite name="store-operator" tests="12" failures="2">/);
  assert.match(report, /statefulsets\.apps a\/1, a\/2, a\/3, a\/4: its pods are replaced/);
  const page = rehearsalPage(rehearsal);
  assert.match(page, /a\/3<br>a\/4/);
  for (const text of [report, page]) assert.ok(text.includes("&lt;b&gt;") && !text.includes("<b>"));
});
