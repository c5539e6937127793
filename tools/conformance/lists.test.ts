import assert from "node:assert/strict";
import { test } from "node:test";
import { formatList, listedSigs, parseList, readList, sampleOf } from "./lists.ts";
import { countsTable, readPage } from "./reference-page.ts";
import { HELD_OUT, passedIn, specsOf } from "./specs.ts";

test("a list is read as it was written, in the order of names", () => {
  const list = { about: "2026-11-15: 2 of 3 pass", names: ["[sig-b] x", "[sig-a] y"] };
  assert.deepEqual(parseList(formatList(list)), { ...list, names: ["[sig-a] y", "[sig-b] x"] });
});

test("a sample is the same whatever the order, and grows by adding", () => {
  const specs = Array.from({ length: 50 }, (_, index) => ({ name: `spec ${index}` }));
  const small = sampleOf(specs, 5);
  assert.deepEqual(sampleOf([...specs].reverse(), 5), small);
  assert.deepEqual(sampleOf(specs, 9).slice(0, 5), small);
});

test("the committed lists name each spec once, and each belongs to its sig", () => {
  for (const name of ["passing", "nodes", "yardstick"] as const) {
    for (const sig of listedSigs(name)) {
      const { names } = readList(name, sig)!;
      assert.equal(new Set(names).size, names.length, `${name}/${sig}`);
      for (const spec of names) assert.ok(spec.includes(`[sig-${sig}]`), spec);
    }
  }
});

test("what passes on the real control plane passes here", () => {
  for (const sig of listedSigs("yardstick")) {
    const here = new Set(readList("passing", sig)?.names);
    assert.deepEqual(
      readList("yardstick", sig)!.names.filter((name) => !here.has(name)),
      [],
      sig,
    );
  }
});

test("specs are those that the dry run did not filter out, with their sig and area", () => {
  const report = (State: string, LeafNodeText: string) => ({
    ContainerHierarchyTexts: ["[sig-scheduling] SchedulerPredicates [Serial]", "PriorityClass"],
    LeafNodeType: "It",
    LeafNodeText,
    State,
  });
  const specs = specsOf([{ SpecReports: [report("passed", "counts [Conformance]"), report("skipped", "other")] }]);
  assert.deepEqual(specs, [
    {
      name: "[sig-scheduling] SchedulerPredicates [Serial] PriorityClass counts [Conformance]",
      sig: "scheduling",
      area: "SchedulerPredicates",
      serial: true,
    },
  ]);
});

test("of specs that ran together those have passed of which the report says so", () => {
  const report = (LeafNodeText: string, State: string, LeafNodeType = "It") => ({
    ContainerHierarchyTexts: ["[sig-b] x"],
    LeafNodeType,
    LeafNodeText,
    State,
  });
  const SpecReports = [report("a", "passed"), report("b", "failed"), report("", "passed", "BeforeSuite")];
  assert.deepEqual([...passedIn([{ SpecReports }])], ["[sig-b] x a"]);
  assert.deepEqual([...passedIn([{ SpecReports: [report("c", "skipped"), report("d", "timedout")] }])], []);
});

test("the reference page has the counts of the committed lists", () => {
  assert.ok(readPage().includes(countsTable()), "npm run conformance -- --update rewrites them");
});

test("another seed draws other specs, and the same seed the same", () => {
  const specs = Array.from({ length: 100 }, (_, index) => ({ name: `spec ${index}` }));
  const drawn = (seed?: string) => sampleOf(specs, 5, seed).map(({ name }) => name);
  assert.deepEqual(drawn("1"), drawn("1"));
  assert.notDeepEqual(drawn("1"), drawn("2"));
  assert.notDeepEqual(drawn("1"), drawn());
});

test("the held-out specs have none of the tags that leave them out", () => {
  const skip = new RegExp(HELD_OUT.skip ?? "");
  for (const tag of ["Conformance", "Feature:X", "FeatureGate:Y", "Slow", "Serial", "Disruptive", "Driver: nfs"])
    assert.match(`[sig-node] a [${tag}] b`, skip, tag);
  assert.doesNotMatch("[sig-node] Pods [NodeConformance] [LinuxOnly] should run", skip);
});

test("a spec's name leaves out empty containers, as Ginkgo's does", () => {
  const report = { ContainerHierarchyTexts: ["[sig-a] x", ""], LeafNodeType: "It", LeafNodeText: "y", State: "passed" };
  assert.equal(specsOf([{ SpecReports: [report] }])[0]?.name, "[sig-a] x y");
});
