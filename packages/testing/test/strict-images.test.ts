import assert from "node:assert/strict";
import { test } from "node:test";
import { Deployment, Pod } from "@konverge/kinds";
import { imagesIn } from "../src/environment/named-images.ts";
import { runScenario, type TestEnvironment } from "../src/index.ts";

const deployment = (name: string, image: string) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image }] } },
  },
});
const phases = async (environment: TestEnvironment) =>
  (await environment.list(Pod)).map(({ metadata, status }) => `${metadata.labels?.["app"]} ${status?.phase}`);

test("an image that only the code under test names does not become ready; one that the test names does", () =>
  runScenario(
    async (environment) => {
      await environment.apply(deployment("named", "example/web:1"));
      // As an operator would, which writes through its own connection.
      const { client } = environment.cluster!;
      const write = (name: string, image: string) => {
        const { metadata, ...rest } = deployment(name, image);
        return client.create(Deployment, {
          ...rest,
          metadata: { ...metadata, namespace: environment.namespace },
        } as never);
      };
      await write("misspelled", "example/wbe:1");
      await write("registered", "example/helper:7");
      await environment.advance(120_000);
      assert.deepEqual((await phases(environment)).sort(), [
        "misspelled Pending",
        "named Running",
        "registered Running",
      ]);
    },
    { images: ["example/helper"] },
  ));

test("images are found where objects and schemas name them", () => {
  const found = imagesIn({
    spec: { containers: [{ image: "a" }, { image: "b:1", imagePullPolicy: "Always" }], initImage: "c" },
    properties: { image: { type: "string", default: "d" } },
    settings: { defaultImage: "e", other: "f" },
  });
  assert.deepEqual(found, ["a", "b:1", "c", "d", "e"]);
});
