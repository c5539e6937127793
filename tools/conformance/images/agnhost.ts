import { createAuthority } from "@konverge/apiserver";
import type { Command, Image, Process } from "@konverge/cluster";
import { durationMs, realClock, sleep } from "@konverge/core";
import { conversionWebhook } from "./conversion-webhook.ts";
import { grpcHealth } from "./grpc-health.ts";
import { guestbook } from "./guestbook.ts";
import { inClusterClient } from "./in-cluster-client.ts";
import { issuerDiscovery } from "./issuer-discovery.ts";
import { mounttest } from "./mounttest.ts";
import { netexec } from "./netexec.ts";
import { nettest } from "./nettest.ts";
import { portForwardTester } from "./port-forward-tester.ts";
import { porter } from "./porter.ts";
import { flagsOf, forEver, serveHttp } from "./serve.ts";
import { serveFiles } from "./web-server.ts";
import { webhook } from "./webhook.ts";

const LIVELY = 10_000;

async function pause(process: Process): Promise<number> {
  process.stdout("Paused\nSignals registered\n");
  process.onTerminate(() => process.exit(2));
  return forEver(process);
}

async function liveness(process: Process): Promise<number> {
  const started = process.clock.monotonic();
  serveHttp(process, 8080, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://pod");
    const age = process.clock.monotonic() - started;
    if (pathname === "/redirect") response.writeHead(302, { location: searchParams.get("loc") ?? "" }).end();
    else if (pathname === "/healthz" && age > LIVELY) response.writeHead(500).end(`error: ${age / 1000}`);
    else response.end(pathname === "/healthz" ? "ok" : `${age}ms`);
  });
  return forEver(process);
}

async function serveHostname(process: Process): Promise<number> {
  const flags = flagsOf(process.argv.slice(2));
  const port = Number(flags.get("port") ?? 9376);
  const { network, stdout } = process;
  if (flags.has("tcp")) network.listen(port, (connection) => connection.end(network.hostName));
  if (flags.has("udp")) network.answer(port, async () => Buffer.from(network.hostName));
  if (flags.get("http") !== "false") serveHttp(process, port, (_, response) => response.end(network.hostName));
  stdout(`Serving on port ${port}.\n`);
  return forEver(process);
}

async function logsGenerator(process: Process): Promise<number> {
  const flags = flagsOf(process.argv.slice(2));
  const lines = Number(flags.get("log-lines-total") ?? flags.get("t"));
  const delay = durationMs(flags.get("run-duration") ?? flags.get("d") ?? "1s") / lines;
  const { clock, signal, label } = process;
  const pick = <T>(values: readonly T[]) => values[clock.random.below(values.length)];
  for (let id = 0; id < lines; id++) {
    const at = new Date(clock.now()).toISOString();
    const head = `I${at.slice(5, 7)}${at.slice(8, 10)} ${at.slice(11, 23)}000       1 logs_generator.go:76]`;
    const path = `/api/v1/namespaces/${pick(["kube-system", "default", "ns"])}/pods/${clock.random.below(46656).toString(36)}`;
    process.stdout(`${head} ${id} ${pick(["GET", "POST", "PUT"])} ${path} ${200 + clock.random.below(400)}\n`);
    await sleep(clock, delay, { signal, label });
  }
  return 0;
}

async function connect({ argv, network, stderr }: Process): Promise<number> {
  const target = argv.at(-1) ?? "";
  const colon = target.lastIndexOf(":");
  try {
    (await network.connect(target.slice(0, colon), Number(target.slice(colon + 1)))).destroy();
    return 0;
  } catch {
    stderr("REFUSED\n");
    return 1;
  }
}

function resolverWords({ files }: Process, key: string): string[] {
  const lines = files.readText("/etc/resolv.conf").split("\n");
  return lines.filter((line) => line.startsWith(`${key} `)).flatMap((line) => line.split(" ").slice(1));
}

const searched = (process: Process) => resolverWords(process, "search");

const SUBCOMMANDS: Readonly<Record<string, Command>> = {
  pause,
  mounttest,
  netexec,
  nettest,
  liveness,
  connect,
  porter,
  webhook,
  guestbook,
  inclusterclient: inClusterClient,
  "crd-conversion-webhook": conversionWebhook,
  "grpc-health-checking": grpcHealth,
  "test-service-account-issuer-discovery": issuerDiscovery,
  "port-forward-tester": portForwardTester,
  "serve-hostname": serveHostname,
  "logs-generator": logsGenerator,
  "test-webserver": async (process) => {
    serveFiles(process, Number(flagsOf(process.argv.slice(2)).get("port") ?? 80), "/");
    return forEver(process);
  },
  "etc-hosts": async (process) => {
    process.stdout(`${process.files.readText("/etc/hosts")}\n`);
    return 0;
  },
  "dns-suffix": async (process) => {
    process.stdout(`${searched(process).join(",")}\n`);
    return 0;
  },
  "dns-server-list": async (process) => {
    process.stdout(`${resolverWords(process, "nameserver").join(",")}\n`);
    return 0;
  },
  "entrypoint-tester": async ({ argv, stdout }) => {
    stdout(`[${argv.join(" ")}]\n`);
    return 0;
  },
  nonewprivs: async ({ user, stdout }) => {
    stdout(`Effective uid: ${user.uid}\n`);
    return 0;
  },
};

const run: Command = async (process) => {
  const command = SUBCOMMANDS[process.argv[1] ?? ""];
  if (command) return command(process);
  process.stderr(`Error: unknown command "${process.argv[1]}" for "app"\n`);
  return 1;
};

/** The image that most specs use: one program with many trades, of which those are here that conformance specs ask for. */
export const agnhost: Image = {
  entrypoint: ["/agnhost"],
  cmd: ["pause"],
  commands: { "/agnhost": run, "/agnhost-2": run, agnhost: run },
  files: { "uploads/.keep": "", "localhost.crt": createAuthority(realClock(), { name: "localhost" }).cert },
};
