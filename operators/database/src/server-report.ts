import type { Client } from "konverge/client";
import type { Pod } from "konverge/kinds";
import { type Clock, sleep } from "konverge/time";
import { type ArchiveFacts, parseArchiveFacts } from "./archive-facts.ts";
import { SCRIPTS_FOLDER } from "./scripts.ts";
import { SERVER } from "./server-pod.ts";

/** What a server says about itself: what `status.sh` prints. */
export interface ServerReport {
  /** primary, standby, stopping, stopped, empty, waiting, joining, overtaken, foreign: it is to follow a system that its data are not of, halted: the user has fenced it, or fenced: it led, was cut off, and has stopped. */
  readonly role: string;
  /** Of the topology that it has carried out. */
  readonly term: number;
  readonly timeline?: number;
  /** Up to where the data of a standby go; of a server that does not run, only after a stop in good order. */
  readonly lsn?: bigint;
  readonly streaming?: boolean;
  readonly behind?: number;
  /** Where the writes of a former primary ended that follows another Database now. */
  readonly demoted?: string;
  readonly confirming?: string;
  /** Of its volume, in KiB. */
  readonly size?: number;
  readonly used?: number;
  /** The latest term on this server's volume, and whether its data are of a primary or of a standby. */
  readonly volumeTerm?: number;
  readonly data?: string;
  readonly password?: string;
  /** The last restart that it was ordered to make, by the number that the topology gave it. */
  readonly restarted?: number;
  /** The digest of the configuration that it has read. */
  readonly configuration?: string;
  /** Parameters whose new value it gets only by a restart, and those that it does not accept. */
  readonly pendingRestart?: readonly string[];
  readonly rejected?: readonly string[];
  /** The last checkpoint that was asked of it before a hand-over, by the number that the topology gave it. */
  readonly checkpoint?: number;
  /** Of a primary that archives its WAL: segments that wait for it, seconds that the oldest has waited, failures. */
  readonly unarchived?: number;
  readonly archiveLag?: number;
  readonly archiveFailures?: number;
  /** Files that this server had not archived when it was the primary, and that still wait for it. */
  readonly aside?: number;
  /** Of this report: returned in a query, it extends the lease of the server that leads. */
  readonly token?: string;
  /** Seconds without contact after which this server fences itself as the primary; absent without self-fencing. */
  readonly fencing?: number;
  /** The digest of the declared roles and databases that a primary has carried out, and what of them failed. */
  readonly declared?: string;
  readonly declaredProblems?: readonly DeclaredProblem[];
  /** Of such a primary: what the archive has. */
  readonly archive?: ArchiveFacts;
}

/** What the server could not do, as `declared.sh` reports it. */
export interface DeclaredProblem {
  readonly kind: "role" | "database";
  readonly name: string;
  readonly message: string;
}

/** Asks the server in a pod, and extends its lease if there is a grant; undefined if it does not answer. */
export type AskServer = (pod: Pod, client: Client, clock: Clock, grant?: string) => Promise<string | undefined>;

/** Milliseconds that a server has to answer; on a node that no longer reports, where a failover waits for it at each step. */
const TIMEOUT = 10_000;
const TIMEOUT_LOST = 2_000;

/** Whether a server answered a query when it was asked: a role alone is what its script wrote down earlier. */
export function answersQueries(report: ServerReport | undefined): boolean {
  if (report?.role === "primary") return report.confirming !== undefined;
  return report?.role === "standby" && report.streaming !== undefined;
}

/** The only command that the operator runs in pods. It can have one argument: a grant. */
export const ASK_COMMAND = ["sh", `${SCRIPTS_FOLDER}/status.sh`];
/** A term, and the token of a report. */
export const GRANT = "^[0-9]+[.][0-9a-f]+[.][0-9]+$";

/** Runs `status.sh` in the server's container. */
export const askByExec: AskServer = async (pod, client, clock, grant) => {
  const { name, namespace } = pod.metadata;
  const over = new AbortController();
  const options = { container: SERVER, signal: over.signal };
  const queried = (async () => {
    const command = grant === undefined ? ASK_COMMAND : [...ASK_COMMAND, grant];
    const process = await client.exec(`${namespace}/${name}`, command, options);
    over.signal.addEventListener("abort", () => process.close());
    const { code, stdout } = await process.output();
    return code === 0 ? stdout : undefined;
  })().catch(() => undefined);
  const late = sleep(clock, isOnLostNode(pod) ? TIMEOUT_LOST : TIMEOUT, {
    signal: over.signal,
    label: `answer of ${name}`,
  }).then(
    () => undefined,
    () => undefined,
  );
  const first = await Promise.race([queried, late]);
  over.abort();
  return first;
};

/** Only the controller of nodes says that a pod whose containers are ready is not. */
function isOnLostNode({ status }: Pod): boolean {
  const statusOf = (type: string) => status?.conditions?.find((one) => one.type === type)?.status;
  return statusOf("ContainersReady") === "True" && statusOf("Ready") === "False";
}

/** Reads what `status.sh` printed. Without a role and a term it is no report. */
export function parseServerReport(text: string | undefined): ServerReport | undefined {
  const facts = new Map<string, string>();
  for (const line of text?.split("\n") ?? []) {
    const at = line.indexOf("=");
    if (at > 0) facts.set(line.slice(0, at), line.slice(at + 1).trim());
  }
  const number = (name: string) => {
    const value = facts.get(name);
    return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
  };
  const [role, term] = [facts.get("role"), number("term")];
  if (!role || term === undefined) return undefined;
  const lsn = parseLsn(facts.get("lsn"));
  const archive = parseArchiveFacts(facts);
  const optional = {
    timeline: number("timeline"),
    behind: number("behind"),
    size: number("size"),
    used: number("used"),
    volumeTerm: number("volumeTerm"),
    unarchived: number("unarchived"),
    archiveLag: number("archiveLag"),
    archiveFailures: number("archiveFailures"),
    aside: number("aside"),
    checkpoint: number("checkpoint"),
    restarted: number("restarted"),
    fencing: number("fencing"),
  };
  const [streaming, confirming, password, data, configuration, declared] = [
    "streaming",
    "confirming",
    "password",
    "data",
    "configuration",
    "declared",
  ].map((name) => facts.get(name));
  const declaredProblems = problemsIn(facts.get("declaredProblems"));
  const demoted = facts.get("demoted");
  const token = facts.get("token");
  const [pendingRestart, rejected] = ["pendingRestart", "rejected"].map((name) => wordsIn(facts.get(name)));
  return {
    role,
    term,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
    ...(lsn !== undefined && { lsn }),
    ...(streaming !== undefined && { streaming: streaming === "yes" }),
    ...(confirming !== undefined && { confirming }),
    ...(password !== undefined && { password }),
    ...(configuration !== undefined && { configuration }),
    ...(declared !== undefined && declaredProblems && { declared, declaredProblems }),
    ...(pendingRestart && { pendingRestart }),
    ...(rejected && { rejected }),
    ...(data !== undefined && { data }),
    ...(parseLsn(demoted) !== undefined && { demoted: demoted! }),
    ...(token !== undefined && /^[0-9a-f]+\.[0-9]+$/.test(token) && { token }),
    ...(archive && { archive }),
  };
}

/** The JSON of `declared.sh`; undefined if it is none. */
function problemsIn(text: string | undefined): DeclaredProblem[] | undefined {
  try {
    const all = JSON.parse(text ?? "") as unknown;
    return Array.isArray(all) && all.every(isProblem) ? all : undefined;
  } catch {
    return undefined;
  }
}

function isProblem(one: unknown): one is DeclaredProblem {
  const { kind, name, message } = (one ?? {}) as Partial<DeclaredProblem>;
  return (kind === "role" || kind === "database") && typeof name === "string" && typeof message === "string";
}

const wordsIn = (text: string | undefined) => text?.split(" ").filter((word) => word !== "");

/** A position as PostgreSQL writes it, two hexadecimal halves, as a number. */
export function parseLsn(text: string | undefined): bigint | undefined {
  const [, high, low] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i.exec(text ?? "") ?? [];
  return high && low ? (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`) : undefined;
}

/** The same in PostgreSQL's own words. */
export function lsnText(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16).toUpperCase()}/${(lsn & 0xffffffffn).toString(16).toUpperCase()}`;
}
