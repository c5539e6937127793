import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { Server, Socket } from "node:net";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { NETWORK } from "../../src/userland/applets/network.ts";
import { node, onNodes } from "./virtual-nodes.ts";

const USERLAND = join(import.meta.dirname, "../../src/userland");
const FILES = globSync("**/*.ts", { cwd: USERLAND }).filter((file) => !file.endsWith(".test.ts"));

/** Modules that compute, or work on streams that they are given. */
const HARMLESS = [
  "@konverge/core",
  "node:crypto",
  "node:events",
  "node:path",
  "node:stream",
  "node:string_decoder",
  "re2js",
];
/** These open connections where none is given to them: see the test below. */
const GIVEN_STREAMS = ["node:http", "node:tls"];
const STREAM_USERS = ["http-request.ts", "listening.ts"].map((file) => join("applets", file));

test("nothing that interprets containers imports a module that reaches this machine", () => {
  assert.ok(FILES.includes("file-system.ts"));
  for (const file of FILES) {
    const text = readFileSync(join(USERLAND, file), "utf8");
    for (const [, type, specifier = ""] of text.matchAll(/^(?:im|ex)port (type )?[^;]*?from "([^"]+)";/gm)) {
      if (type) continue;
      const target = relative(USERLAND, join(USERLAND, dirname(file), specifier));
      const isOwn = specifier.startsWith(".") && !target.startsWith("..");
      const isStream = GIVEN_STREAMS.includes(specifier) && STREAM_USERS.includes(file);
      assert.ok(isOwn || isStream || HARMLESS.includes(specifier), `${file} imports ${specifier}`);
    }
    const other = /\b(?:import\(|require\(|eval\(|new Function|getBuiltinModule|process\.binding|globalThis)/.exec(
      text,
    );
    assert.equal(other, null, `${file} has ${other?.[0]}`);
  }
});

test("no command of a container connects to anything but the cluster", async ({ mock }) => {
  const connect = mock.method(Socket.prototype, "connect", () => assert.fail("a connection of this machine"));
  const listen = mock.method(Server.prototype, "listen", () => assert.fail("a port of this machine"));
  const tries = [
    "",
    "/etc/passwd",
    "-c 1 127.0.0.1",
    "127.0.0.1 1",
    "-O /tmp/x http://127.0.0.1:1/",
    "http://[::1]:1/",
  ];
  const lines = Object.keys(NETWORK).flatMap((name) => tries.map((args) => `(${name} ${args} < /dev/null)`));
  await onNodes([node("one")], async (stage) => {
    const command = ["sh", "-c", [...lines, "echo done"].join("\n")];
    await stage.pod("p", { restartPolicy: "Never", containers: [{ name: "main", image: "busybox:1.37", command }] });
    await stage.pass(600_000);
    const log = stage.cluster.kubelet.worker("default/p")?.containers[0]?.log?.lines ?? [];
    assert.equal(log.at(-1)?.text, "done");
    assert.ok(log.some(({ text }) => text.includes("Connection refused")));
  });
  assert.equal(connect.mock.callCount() + listen.mock.callCount(), 0);
});
