import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { dirname, join, relative } from "node:path";
import { PassThrough } from "node:stream";
import { mock, test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { APPLETS } from "./applets/applets.ts";
import { FileSystem } from "./file-system.ts";
import { Machine } from "./limits/machine.ts";
import { rootFiles } from "./root-files.ts";
import { Userland } from "./userland.ts";

const ROOT = import.meta.dirname;
const FILES = globSync("**/*.ts", { cwd: ROOT }).filter((file) => !file.endsWith(".test.ts"));

/** Modules of Node.js that compute, or work on streams that they are given. */
const HARMLESS = ["node:crypto", "node:events", "node:path", "node:stream", "node:string_decoder"];
/** These open connections where none is given to them: see the test below. */
const GIVEN_STREAMS = ["node:http", "node:tls"];

test("nothing of the userland imports a module that reaches this machine", () => {
  for (const file of FILES) {
    const text = readFileSync(join(ROOT, file), "utf8");
    for (const [, type, specifier = ""] of text.matchAll(/^(?:im|ex)port (type )?[^;]*?from "([^"]+)";/gm)) {
      if (type) continue;
      const isOwn = specifier.startsWith(".") && !relative(ROOT, join(ROOT, dirname(file), specifier)).startsWith("..");
      const isKnown = [...HARMLESS, "@konverge/core", "re2js"].includes(specifier);
      const isStream = GIVEN_STREAMS.includes(specifier) && file === join("applets", "http-request.ts");
      assert.ok(isOwn || isKnown || isStream, `${file} imports ${specifier}`);
    }
    const other = /\b(?:import\(|require\(|eval\(|new Function|getBuiltinModule|process\.binding|globalThis)/.exec(
      text,
    );
    assert.equal(other, null, `${file} has ${other?.[0]}`);
  }
});

test("every command, and every way to a network, stays in the container", async (context) => {
  const clock = new VirtualClock();
  const connect = context.mock.method(Socket.prototype, "connect", () => assert.fail("a connection of this machine"));
  const dialed: string[] = [];
  const node = rootFiles({ now: 0, hostName: "pod", hosts: "", resolver: "", settings: {}, files: {} });
  const files = new FileSystem({ node, readOnly: false, type: "overlay" }, new Map(), () => clock.now());
  const userland = new Userland({
    pod: { metadata: { name: "pod", namespace: "default" }, spec: { containers: [] } } as never,
    container: { name: "main" },
    env: {},
    files,
    user: { uid: 0, gid: 0, groups: [] },
    network: {
      address: "10.0.0.1",
      hostName: "pod",
      fullName: "pod",
      lookUp: () => [],
      resolve: (name) => [name],
      connect: async (host, port) => {
        dialed.push(`${host}:${port}`);
        return new PassThrough().end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi");
      },
      listen: () => {},
      ask: async () => undefined,
      answer: () => {},
    },
    clock,
    cwd: "/",
    commands: {},
    limits: new Machine(clock).container(() => {}),
    ended: new AbortController().signal,
    log: () => {},
  });
  const end = AbortSignal.timeout(60_000);
  for (const name of Object.keys(APPLETS)) {
    for (const args of [[], ["/etc/passwd"], ["-O", "/tmp/x", "http://127.0.0.1:1/"], ["127.0.0.1", "1"]]) {
      const running = userland.run([name, ...args], {}, { kill: AbortSignal.any([end, context.signal]) });
      await Promise.race([running, clock.advance(120_000)]);
    }
  }
  assert.ok(dialed.includes("127.0.0.1:1"), "curl, wget and nc were given the container's network");
  assert.equal(connect.mock.callCount(), 0);
  mock.reset();
});
