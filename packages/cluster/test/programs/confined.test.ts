import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { childProgram, type Program } from "@konverge/cluster";
import { ConfigMap, type VolumeMount } from "@konverge/kinds";
import { ended, programStage } from "./program-stage.ts";

const once = { restartPolicy: "Never" as const };
const CHILD = fileURLToPath(new URL("./child.mjs", import.meta.url));
const skip = process.platform === "win32";

/** Sets a temporary folder for the files of pods while `work` runs, in which nothing else may appear. */
async function inOwnTemp(work: (temp: string) => Promise<void>): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), "confined-"));
  const before = process.env["TMPDIR"];
  const temp = join(base, "a", "b");
  mkdirSync(temp, { recursive: true });
  process.env["TMPDIR"] = temp;
  try {
    await work(temp);
    const all = readdirSync(base, { recursive: true }).map(String);
    assert.deepEqual(all.sort(), ["a", join("a", "b")], "nothing is left, and nothing was written elsewhere");
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    rmSync(base, { recursive: true, force: true });
  }
}

/** What `mountPath`s and their like a pod may ask for, and where the file `key` is then. */
const TRICKS: readonly [mount: Omit<VolumeMount, "name">, file: string][] = [
  [{ mountPath: "../../escaped" }, "/escaped/key"],
  [{ mountPath: "/../../../escaped-too" }, "/escaped-too/key"],
  [{ mountPath: "relative" }, "/relative/key"],
  [{ mountPath: "../../part", subPath: "key" }, "/part"],
  [{ mountPath: "/x/../../../below", subPath: "./folder" }, "/below/inner"],
  [{ mountPath: "../../chosen", subPathExpr: "$(PART)" }, "/chosen"],
  [{ mountPath: "/proc/self/cwd" }, "/proc/self/cwd/key"],
  [{ mountPath: "C:\\Windows" }, "/C:\\Windows/key"],
];

test("volumes of programs are in the container's folder, whatever their paths say", { skip }, () =>
  inOwnTemp(async (temp) => {
    const listed = new Map<string, readonly string[]>();
    const list: Program = async (container) => {
      const folder = await container.folder();
      assert.ok(folder.startsWith(temp));
      const onDisk = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const paths = onDisk.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length));
      assert.deepEqual(paths.sort(), [...container.files.keys()].sort());
      listed.set(container.pod.metadata.name, paths);
    };
    await using stage = await programStage({
      "example/list": { run: list },
      "example/child": { run: childProgram([process.execPath, CHILD]) },
    });
    await stage.client.create(ConfigMap, { metadata: { name: "words" }, data: { key: "k", inner: "i" } });
    const items = [
      { key: "key", path: "key" },
      { key: "inner", path: "folder/inner" },
    ];
    for (const [index, [mount, file]] of TRICKS.entries()) {
      const volumes = [
        { name: "words", configMap: { name: "words", items } },
        { name: "scratch", emptyDir: {} },
      ];
      const volumeMounts = [
        { name: "words", ...mount },
        { name: "scratch", ...mount, mountPath: `${mount.mountPath}-scratch` },
      ];
      const env = [{ name: "PART", value: "key" }];
      for (const image of ["list", "child"]) {
        const name = `${image}-${index}`;
        await stage.pod(name, {
          ...once,
          containers: [{ name: "main", image: `example/${image}`, env, volumeMounts }],
          volumes,
        });
        assert.equal((await ended(stage, name)).exitCode, 0, (await stage.logs(name)).join("\n"));
      }
      assert.ok(
        listed.get(`list-${index}`)?.includes(file),
        `${mount.mountPath} is ${file}: ${listed.get(`list-${index}`)}`,
      );
    }
  }),
);

test("a part of a volume that a ConfigMap names cannot lead out of the volume", async () => {
  const never: Program = async () => assert.fail("it must not start");
  await using stage = await programStage({ "example/never": { run: never } });
  await stage.client.create(ConfigMap, { metadata: { name: "words" }, data: { up: "../..", root: "/etc" } });
  for (const [key, why] of [
    ["up", "unable to provision SubPath `../..`: must not contain '..'"],
    ["root", "error SubPath `/etc` must not be an absolute path"],
  ] as const) {
    await stage.pod(key, {
      ...once,
      containers: [
        {
          name: "main",
          image: "example/never",
          env: [{ name: "PART", valueFrom: { configMapKeyRef: { name: "words", key } } }],
          volumeMounts: [{ name: "words", mountPath: "/words", subPathExpr: "$(PART)" }],
        },
      ],
      volumes: [{ name: "words", configMap: { name: "words" } }],
    });
    assert.equal((await ended(stage, key)).exitCode, 1);
    assert.ok((await stage.logs(key)).join("\n").includes(why));
  }
});
