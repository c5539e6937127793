import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { operators } from "@konverge/operators";
import { permissionPages } from "./permission-pages.ts";
import { powersOf } from "./powers.ts";

const folder = new URL("../../../../docs/reference/permissions/", import.meta.url);

test("the pages on what operators could do are those of their roles", () => {
  const pages = permissionPages(operators);
  const advice = "docs/reference/permissions is out of date: node packages/cli/src/permissions/write-pages.ts";
  assert.deepEqual(readdirSync(folder).sort(), [...pages.keys()].sort(), advice);
  for (const [name, text] of pages) assert.equal(readFileSync(new URL(name, folder), "utf8"), text, advice);
});

test("a wildcard gives every power, and a rule for names only that over these", () => {
  const all = powersOf([{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]);
  assert.ok(all.length > 40);
  assert.equal(all[0]!.reach, "cluster");
  const [own, ...more] = powersOf([
    {
      apiGroups: ["admissionregistration.k8s.io"],
      resources: ["validatingwebhookconfigurations"],
      resourceNames: ["mine"],
      verbs: ["get", "patch"],
    },
  ]);
  assert.deepEqual([own?.names, own?.by], [["mine"], "patch validatingwebhookconfigurations"]);
  assert.deepEqual(more, []);
  assert.deepEqual(powersOf([{ apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] }]), []);
});

test("every power of an operator has a reason", () => {
  for (const [name, text] of permissionPages(operators)) {
    for (const line of text.split("\n").filter((one) => one.startsWith("| ") && name !== "README.md")) {
      assert.doesNotMatch(line, /Uses it in its code/i, `${name}: ${line}`);
    }
  }
});
