import assert from "node:assert/strict";
import { test } from "node:test";
import { defineKind, rawSchema, z } from "@konverge/schema";
import fc from "fast-check";
import { Redaction } from "./redaction.ts";

const password = () => rawSchema<string>({ type: "string", format: "password" });
const Login = defineKind({
  group: "example.com",
  kind: "Login",
  versions: {
    v1: {
      spec: z.object({
        user: z.string(),
        password: password(),
        others: z.array(z.object({ name: z.string(), token: password() })).default([]),
      }),
    },
  },
});
const Secret = { group: "", version: "v1", kind: "Secret" };

const texts = (line: unknown, redaction: Redaction) => redaction.text(line, (value) => JSON.stringify(value));

test("fields that a schema marks as passwords are replaced, in lists as well", () => {
  const redaction = new Redaction("key", new Map());
  const spec = { user: "ann", password: "swordfish", others: [{ name: "bob", token: "sesame-seed" }] };
  const shown = redaction.object(Login, Login.new({ metadata: { name: "l" }, spec }));
  assert.equal(shown.spec.user, "ann");
  assert.match(shown.spec.password, /^redacted-[0-9a-f]{8}$/);
  assert.match(shown.spec.others[0]!.token, /^redacted-/);
  assert.equal(shown.spec.others[0]!.name, "bob");
});

test("the same value has the same placeholder, another value another, and another process another", () => {
  const shown = (key: string, value: string) =>
    new Redaction(key, new Map()).object(Secret, { stringData: { value } }).stringData.value;
  assert.equal(shown("one", "swordfish"), shown("one", "swordfish"));
  assert.notEqual(shown("one", "swordfish"), shown("one", "halibut"));
  assert.notEqual(shown("one", "swordfish"), shown("two", "swordfish"));
});

test("what kubectl keeps of a Secret, and patches of one, are no way round", () => {
  const redaction = new Redaction("key", new Map());
  const data = { a: Buffer.from("swordfish").toString("base64") };
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify({ data }), kept: "yes" };
  const line = [
    redaction.object(Secret, { metadata: { name: "s", annotations }, data }),
    redaction.object(Secret, { merge: { data } }),
    redaction.object(Secret, { strategic: { stringData: { a: "swordfish" } } }),
    redaction.object(Secret, { json: [{ op: "add", path: "/data/a", value: data.a }] }),
    redaction.object({ group: "", version: "v1", kind: "secrets" }, { data }),
  ];
  const text = texts(line, redaction);
  assert.ok(!text.includes("swordfish") && !text.includes(data.a), text);
  assert.match(text, /"kept":"yes"/);
});

test("whatever a secret says and wherever it turns up, it is not in the text", () => {
  const word = fc.string({ minLength: 6, maxLength: 40 }).filter((text) => !/redacted|^[0-9a-f-]+$/.test(text));
  fc.assert(
    fc.property(word, fc.array(fc.string(), { maxLength: 4 }), (secret, around) => {
      const redaction = new Redaction("key", new Map());
      redaction.object(Secret, { data: { a: Buffer.from(secret).toString("base64") } });
      const line = { message: `${around.join("")}${secret}${around.join("")}`, list: [secret, { deep: secret }] };
      const parsed = JSON.parse(texts(line, redaction)) as typeof line;
      assert.ok(!parsed.message.includes(secret));
      assert.ok(!JSON.stringify(parsed.list).includes(JSON.stringify(secret).slice(1, -1)));
    }),
  );
});
