import type { Duplex } from "node:stream";
import { drained, sleep } from "@konverge/core";
import type { DnsRecord } from "../network.ts";
import { BrokenPipe } from "../pipe.ts";
import type { Command, Process, Room } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { pathOf } from "./failing.ts";
import { ask, untilAborted, type WebRequest } from "./http-request.ts";
import { InputFiles } from "./input-files.ts";
import { httpd, listen } from "./listening.ts";

const DNS_SERVER = "10.96.0.10";

function urlOf(text: string): URL {
  return new URL(/^[a-z]+:\/\//.test(text) ? text : `http://${text}`);
}

const CURL_VALUED = ["o", "X", "H", "d", "m", "w", "A", "u", "E", "retry", "connect-timeout", "max-time", "interface"];
const CURL_LONG = ["cacert", "data", "header", "request", "output", "resolve", "write-out", "retry-delay"];

const curl: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), [...CURL_VALUED, ...CURL_LONG]);
  const headers: Record<string, string> = {};
  for (const [index, word] of process.argv.entries()) {
    const value = word === "-H" || word === "--header" ? process.argv[index + 1] : undefined;
    const [name = "", ...rest] = value?.split(":") ?? [];
    if (value !== undefined) headers[name.toLowerCase()] = rest.join(":").trim();
  }
  const body = flags.get("d") ?? flags.get("data");
  const seconds = Number(flags.get("m") ?? flags.get("max-time") ?? flags.get("connect-timeout") ?? 30);
  const ca = flags.get("cacert");
  let status = 0;
  for (const operand of operands) {
    const request: WebRequest = {
      url: urlOf(operand),
      method: flags.get("X") ?? flags.get("request") ?? (flags.has("I") ? "HEAD" : body === undefined ? "GET" : "POST"),
      headers,
      insecure: flags.has("k") || flags.has("insecure"),
      timeout: seconds * 1000,
      ...(body !== undefined && { body }),
      ...(ca !== undefined && { ca: process.files.read(pathOf(process, ca)) }),
    };
    try {
      let code = 0;
      await ask(process, request, async (answer) => {
        code = answer.status;
        const head = [`HTTP/1.1 ${answer.status} ${answer.statusText}`];
        for (const [name, value] of Object.entries(answer.headers)) head.push(`${name}: ${value}`);
        const failed = (flags.has("f") || flags.has("fail")) && answer.status >= 400;
        if (failed) status = 22;
        if (failed) return () => undefined;
        const output = outputTo(process, flags.get("o") ?? flags.get("output") ?? "-");
        if (flags.has("i") || flags.has("I")) await output(Buffer.from(`${head.join("\r\n")}\r\n\r\n`));
        return output;
      });
      const format = flags.get("w") ?? flags.get("write-out");
      if (format) await process.stdout(format.replaceAll("%{http_code}", String(code)).replaceAll("\\n", "\n"));
    } catch (error) {
      if (process.signal.aborted || error instanceof BrokenPipe) throw error;
      status = failureOf(error);
      const isQuiet = flags.has("s") && !flags.has("S");
      if (!isQuiet) process.stderr(`curl: (${status}) ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
  return status;
};

/** Takes what is downloaded. */
function outputTo(process: Process, name: string): (piece: Uint8Array) => Room {
  if (name === "-") return (piece) => process.stdout(piece);
  const path = pathOf(process, name);
  process.files.write(path, "");
  return (piece) => {
    process.files.write(path, piece, { append: true });
    return undefined;
  };
}

/** The exit code with which curl reports why it got no response. */
function failureOf(error: unknown): number {
  const text = error instanceof Error ? error.message : String(error);
  if (/bad address|not resolve/.test(text)) return 6;
  if (/timed out/.test(text)) return 28;
  if (/certificate|SSL|TLS/i.test(text)) return 60;
  return 7;
}

const wget: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), [
    "O",
    "T",
    "t",
    "header",
    "timeout",
    "post-data",
    "tries",
  ]);
  const [address = ""] = operands;
  const [name = "", ...value] = (flags.get("header") ?? "").split(":");
  const body = flags.get("post-data");
  const url = urlOf(address);
  try {
    const request: WebRequest = {
      url,
      method: body === undefined ? "GET" : "POST",
      headers: name === "" ? {} : { [name]: value.join(":").trim() },
      insecure: flags.has("no-check-certificate"),
      timeout: Number(flags.get("T") ?? flags.get("timeout") ?? 30) * 1000,
      ...(body !== undefined && { body }),
    };
    await ask(process, request, async ({ status, statusText }) => {
      if (status >= 400) throw new Error(`server returned error: HTTP/1.1 ${status} ${statusText}`);
      if (flags.has("spider")) return () => undefined;
      return outputTo(process, flags.get("O") ?? (url.pathname.split("/").pop() || "index.html"));
    });
    return 0;
  } catch (error) {
    if (process.signal.aborted || error instanceof BrokenPipe) throw error;
    if (!flags.has("q")) process.stderr(`wget: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
};

const nc: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), ["w", "i", "p", "q", "s"]);
  const talk = async (connection: Duplex, signal: AbortSignal) => {
    const received = receive(process, connection);
    received.catch(() => {});
    connection.on("error", () => {});
    await untilAborted(Promise.all([received, send(process, connection, signal)]), signal);
  };
  if (flags.has("l")) {
    try {
      return await listen(process, (connection) => talk(connection, process.signal));
    } catch (error) {
      if (process.signal.aborted || error instanceof BrokenPipe) throw error;
      process.stderr(`nc: ${error instanceof Error ? error.message : String(error)}\n`);
      return 1;
    }
  }
  const [host = "", port = ""] = operands;
  const timeout = Number(flags.get("w") ?? 10) * 1000;
  const over = new AbortController();
  const timer = process.clock.after(timeout, () => over.abort(new Error("timed out")), { background: true });
  const signal = AbortSignal.any([process.signal, over.signal]);
  try {
    if (flags.has("u")) {
      if (flags.has("z")) return 0;
      const message = await datagramOf(process);
      const reply = await untilAborted(process.network.ask(host, Number(port), message), signal);
      if (reply) process.stdout(reply);
      else await sleep(process.clock, timeout, { signal: process.signal, label: process.label });
      return reply ? 0 : 1;
    }
    const connection = await untilAborted(process.network.connect(host, Number(port)), signal);
    if (flags.has("v")) process.stderr(`Connection to ${host} ${port} port [tcp/*] succeeded!\n`);
    if (flags.has("z")) {
      connection.destroy();
      return 0;
    }
    await talk(connection, signal);
    return 0;
  } catch (error) {
    if (process.signal.aborted || error instanceof BrokenPipe) throw error;
    process.stderr(`nc: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    timer.cancel();
  }
};

/** Writes what the other side sends, until it has no more to send. */
async function receive(process: Process, connection: Duplex): Promise<void> {
  try {
    for await (const piece of connection as AsyncIterable<Buffer>) {
      await process.spend(1);
      await process.stdout(piece);
    }
  } finally {
    connection.destroy();
  }
}

/** Sends all input, no faster than the other side takes it. */
async function send(process: Process, connection: Duplex, signal: AbortSignal): Promise<void> {
  for await (const piece of process.stdin) {
    await process.spend(1);
    if (connection.destroyed) return;
    if (!connection.write(piece)) await untilAborted(drained(connection), signal);
  }
  connection.end();
}

/** The largest datagram, in bytes. */
const LARGEST_DATAGRAM = 65_507;

async function datagramOf(process: Process): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of new InputFiles(process, []).pieces()) {
    length += piece.length;
    if (length > LARGEST_DATAGRAM) throw new Error("Message too long");
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

const nslookup: Command = async ({ argv, network, stdout, stderr }) => {
  const { operands } = argumentsOf(argv.slice(1), ["timeout", "type"]);
  const [name = ""] = operands;
  stdout(`Server:\t\t${DNS_SERVER}\nAddress:\t${DNS_SERVER}:53\n\n`);
  const found = network.resolve(name);
  if (found.length === 0) {
    stderr(`** server can't find ${name}: NXDOMAIN\n\n`);
    return 1;
  }
  for (const address of found) stdout(`Name:\t${name}\nAddress: ${address}\n`);
  stdout("\n");
  return 0;
};

const dig: Command = async (process) => {
  const { argv, network, stdout } = process;
  const words = argv.slice(1).filter((word) => !word.startsWith("@") && !word.startsWith("-t"));
  const options = words.filter((word) => word.startsWith("+"));
  const reverse = words.indexOf("-x");
  const types: readonly DnsRecord["type"][] = ["A", "CNAME", "SRV", "PTR"];
  const type = types.find((one) => words.includes(one)) ?? (reverse >= 0 ? "PTR" : "A");
  const plain = words.filter(
    (word) =>
      !word.startsWith("+") && !word.startsWith("-") && !(types as readonly string[]).includes(word) && word !== "AAAA",
  );
  const asked = reverse >= 0 ? reversed(words[reverse + 1] ?? "") : (plain[0] ?? "");
  if (words.includes("AAAA")) return 0;
  const searches = options.includes("+search");
  const name = asked.replace(/\.$/, "");
  const names = [name, ...(searches ? searchDomains(process).map((domain) => `${name}.${domain}`) : [])];
  const records = names.map((one) => network.lookup(one, type)).find((found) => found.length > 0) ?? [];
  if (options.includes("+short")) for (const { value } of records) stdout(`${value}\n`);
  else if (records.length > 0) {
    if (!options.includes("+noall")) stdout(";; ANSWER SECTION:\n");
    for (const record of records) stdout(`${record.name}.\t30\tIN\t${record.type}\t${record.value}\n`);
  }
  return 0;
};

function searchDomains({ files }: Process): string[] {
  const line = files
    .readText("/etc/resolv.conf")
    .split("\n")
    .find((one) => one.startsWith("search "));
  return line?.split(" ").slice(1) ?? [];
}

function reversed(address: string): string {
  return `${address.split(".").reverse().join(".")}.in-addr.arpa`;
}

/** `getent hosts NAME` and `getent ahostsv4 NAME`. */
const getent: Command = async ({ argv, network, stdout }) => {
  const [, , name = ""] = argv;
  const found = network.resolve(name);
  for (const address of found) stdout(`${address.padEnd(15)} STREAM ${name}\n`);
  return found.length > 0 ? 0 : 2;
};

/** Networks are not a container's to change, unless it is privileged. */
const ip: Command = async ({ argv, container, network, stdout, stderr }) => {
  if (argv.includes("add") || argv.includes("del") || argv.includes("set")) {
    if (container.securityContext?.privileged) return 0;
    stderr("ip: RTNETLINK answers: Operation not permitted\n");
    return 2;
  }
  stdout(`2: eth0    inet ${network.address}/24 scope global eth0\n`);
  return 0;
};

const ping: Command = async (process) => {
  const host = process.argv.at(-1) ?? "";
  const [address] = process.network.resolve(host);
  if (address === undefined) {
    process.stderr(`ping: bad address '${host}'\n`);
    return 1;
  }
  process.stdout(`PING ${host} (${address}): 56 data bytes\n64 bytes from ${address}: seq=0 ttl=64 time=0.1 ms\n`);
  return 0;
};

/** Commands that reach others. */
export const NETWORK: Readonly<Record<string, Command>> = { curl, wget, nc, httpd, nslookup, dig, getent, ip, ping };
