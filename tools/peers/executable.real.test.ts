import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { realClock } from "@konverge/core";
import { parseYaml } from "@konverge/schema";
import { goSuite, junitSuite, pytestSuite, rustCrate } from "./catalogue.ts";
import { findPeer, inRepository, type Peer } from "./peer.ts";

const executable = inRepository(join("dist", "executable", "konverge"));
const missing = existsSync(executable) ? undefined : 'there is no executable: run "npm run build:executable"';

/** Why tests of a peer cannot run, or false. */
function skipOf(peer: Peer): string | false {
  const found = findPeer(peer);
  return missing ?? (found.available ? false : found.why);
}

function folderOf(peer: Peer): string {
  const found = findPeer(peer);
  assert.ok(found.available);
  return found.folder;
}

describe("the single executable on a machine without Node", () => {
  let folder: string;
  let env: Record<string, string>;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "konverge-executable-"));
    mkdirSync(join(folder, "tmp"));
    // Nothing is in PATH.
    env = { PATH: join(folder, "bin"), HOME: folder, TMPDIR: join(folder, "tmp"), KONVERGE_EXECUTABLE: executable };
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  const run = async (program: string, args: readonly string[], more: Record<string, string> = {}) => {
    const ended = promisify(execFile)(program, args, { cwd: folder, env: { ...env, ...more }, timeout: 300_000 });
    const { stdout, stderr } = await ended.catch((error: { stdout: string; stderr: string }) =>
      assert.fail(`${program} ${args.join(" ")} failed:\n${error.stdout}${error.stderr}`),
    );
    return stdout + stderr;
  };

  test("it starts and ends a cluster; its size and start time", { skip: missing ?? false }, async (t) => {
    await assert.rejects(promisify(execFile)("node", ["--version"], { env }), { code: "ENOENT" });
    const clock = realClock();
    const begun = clock.monotonic();
    const kubeconfig = join(folder, "kubeconfig.json");
    const up = JSON.parse(
      await run(executable, ["up", "--background", "--kubeconfig", kubeconfig, "--output", "json"]),
    );
    const took = Math.round(clock.monotonic() - begun);
    t.diagnostic(`${Math.round(statSync(executable).size / 2 ** 20)} MiB, a cluster is ready after ${took} ms`);
    console.log(
      `the executable: ${Math.round(statSync(executable).size / 2 ** 20)} MiB; a cluster is ready in ${took} ms`,
    );
    const config = JSON.parse(readFileSync(kubeconfig, "utf8")) as { clusters: { cluster: { server: string } }[] };
    assert.equal(config.clusters[0]!.cluster.server, up.url);
    assert.match(await run(executable, ["down"]), /cluster konverge has ended/);
  });

  test("operators are left to the package", { skip: missing ?? false }, async () => {
    await assert.rejects(run(executable, ["up", "--operators", "all"]), /this executable has no operators; with Node/);
    await assert.rejects(
      run(executable, ["explore", "operator.ts"]),
      /explore modules with Node: npx konverge explore/,
    );
  });

  test("the Go module passes its own tests", { skip: skipOf(goSuite) }, async () => {
    // Explorations compile programs: they need Go, and still no Node.
    const [go = "", ...caches] = execFileSync("go", ["env", "GOROOT", "GOCACHE", "GOMODCACHE"], { encoding: "utf8" })
      .trim()
      .split("\n");
    const [GOCACHE = "", GOMODCACHE = ""] = caches;
    const more = { PATH: `${join(folder, "bin")}:${join(go, "bin")}`, GOCACHE, GOMODCACHE };
    const said = await run(join(folderOf(goSuite), "module.test"), ["-test.v"], more);
    assert.match(said, /\nPASS\n/);
    assert.match(said, /--- PASS: TestAnExplorationFailsWithTheTimelineOfWhatItFinds/);
  });

  test("a suite in Go on controller-runtime passes, with and without envtest", { skip: skipOf(goSuite) }, async () => {
    const said = await run(join(folderOf(goSuite), "suite.test"), ["-test.v"]);
    assert.equal(said.match(/^--- PASS/gm)?.length, 3, said);
  });

  test("the pytest fixture and a suite in Python pass", { skip: skipOf(pytestSuite) }, async () => {
    const place = folderOf(pytestSuite);
    const python = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
    const args = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", place];
    const modules = { PYTHONPATH: join(place, "packages"), PYTHONDONTWRITEBYTECODE: "1" };
    assert.match(await run(python, [...args, join(place, "test_suite.py")], modules), /2 passed/);
    assert.match(await run(python, [...args, join(place, "plugin", "tests")], modules), /3 passed/);
  });

  test("the crate in Rust passes its own tests", { skip: skipOf(rustCrate) }, async () => {
    assert.match(await run(join(folderOf(rustCrate), "crate.test"), []), /test result: ok\. 4 passed/);
  });

  test("the JUnit extension and a suite on the Java Operator SDK pass", { skip: skipOf(junitSuite) }, async () => {
    const place = folderOf(junitSuite);
    const read = (file: string) => readFileSync(join(place, file), "utf8");
    const classpath = read("classpath").replaceAll("@", place);
    const suite = async (folder: string) => {
      const classes = join(place, folder, "target", "test-classes");
      const launcher = ["org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner"];
      return run(read("java"), ["-cp", `${classpath}:${classes}`, ...launcher, `--scan-classpath=${classes}`]);
    };
    assert.match(await suite("packages/junit-konverge"), /5 tests successful/);
    assert.match(await suite("tools/peers/junit-suite/operator"), /2 tests successful/);
  });

  test("the action installs it and starts a cluster", { skip: missing ?? false }, async () => {
    const action = inRepository(join("packages", "setup-konverge"));
    const [{ runs }] = parseYaml(readFileSync(join(action, "action.yml"), "utf8")) as [
      { runs: { steps: { run: string }[] } },
    ];
    const files = { GITHUB_PATH: "path", GITHUB_ENV: "env", GITHUB_OUTPUT: "output" };
    const runner = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, join(folder, file)]));
    const inputs = { EXECUTABLE: executable, SHA256: "", ARGS: "--nodes 1 --gpus none --name action" };
    const base = { ...runner, RUNNER_TEMP: folder, GITHUB_ACTION_PATH: action, PATH: "/usr/bin:/bin" };
    const script = async (index: number, path = base.PATH, more: Record<string, string> = {}) =>
      run("/bin/sh", ["-c", runs.steps[index]!.run], { ...base, ...inputs, ...more, PATH: path });
    await assert.rejects(script(0, base.PATH, { SHA256: "0".repeat(64) }), /the checksum of .* is not 0000/);
    await script(0);
    const installed = readFileSync(join(folder, "path"), "utf8").trim();
    try {
      assert.match(await script(1, `${installed}:${base.PATH}`), /Cluster action is ready/);
      assert.match(readFileSync(join(folder, "env"), "utf8"), /^KUBECONFIG=.*kubeconfig$/m);
      assert.match(readFileSync(join(folder, "output"), "utf8"), /^kubeconfig=/);
    } finally {
      await run(executable, ["down", "--name", "action"]);
    }
  });

  test("it still works when it is moved", { skip: missing ?? false }, async () => {
    const moved = join(folder, "elsewhere", "k8s");
    mkdirSync(dirname(moved));
    cpSync(executable, moved);
    const assets = (await run(moved, ["envtest"])).trim();
    assert.match(await run(join(assets, "kube-apiserver"), ["--help"]), /Supported flags/);
    assert.match(await run(join(assets, "etcd"), ["--help"]), /listen-client-urls/);
  });
});
