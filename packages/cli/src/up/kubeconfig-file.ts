import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type Clock, realClock, sleep } from "@konverge/core";
import { parseYamlDocument } from "@konverge/schema";
import { type Document, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from "yaml";
import { makeFolder, unusable } from "../make-folder.ts";
import { UsageError } from "../usage-error.ts";

/** The file that kubectl would write to: the first of $KUBECONFIG, or ~/.kube/config. */
export function defaultKubeconfig(env: NodeJS.ProcessEnv = process.env): string {
  const [first] = (env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  return first ?? join(homedir(), ".kube", "config");
}

interface Kubeconfig {
  clusters: NamedEntry[];
  contexts: NamedEntry[];
  users: NamedEntry[];
  "current-context": string;
}

interface NamedEntry {
  name: string;
}

/** The lists of a kubeconfig, and where an entry of each has what it says. */
const LISTS = { clusters: "cluster", contexts: "context", users: "user" } as const;
const LIST_NAMES = Object.keys(LISTS) as (keyof typeof LISTS)[];

/** The extension that marks an entry as one of ours: an entry of the same name without it is not ours. */
const MARK = "konverge";

/**
 * Refuses a kubeconfig into which a cluster of that name cannot be put: one that is none, that may not be written, or
 * that has another entry of that name. Nothing is changed.
 */
export function checkKubeconfig(path: string, name: string, user: string): void {
  makeFolder(dirname(path), `the kubeconfig ${path}`);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw new UsageError(`${path} is not a file: choose another one with --kubeconfig`);
  if (found && (found.mode & 0o222) === 0) {
    throw new UsageError(`${path} is read-only: make it writable, or choose another file with --kubeconfig`);
  }
  const document = readDocument(path);
  for (const list of LIST_NAMES) {
    const taken = named(entriesOf(document, list), list === "users" ? user : name);
    if (!taken || isMarked(taken, list)) continue;
    throw new UsageError(
      `${path} has a ${LISTS[list]} named ${list === "users" ? user : name} that Konverge did not create: choose another --name, or another file with --kubeconfig`,
    );
  }
}

/** Puts the one cluster, user and context of a kubeconfig into a user's, and makes the context the current one. */
export async function mergeKubeconfig(path: string, text: string, clock: Clock = realClock()): Promise<void> {
  const ours = parseYamlDocument(text).value as Kubeconfig;
  const name = ours["current-context"];
  checkKubeconfig(path, name, ours.users[0]!.name);
  await whileLocked(path, clock, () => {
    const document = readDocument(path);
    const before = document.get("current-context");
    const previous = typeof before === "string" && before !== "" && before !== name ? before : undefined;
    for (const list of LIST_NAMES) {
      const entries = entriesOf(document, list);
      for (const entry of ours[list]) {
        remove(entries, named(entries, entry.name));
        entries.add(document.createNode(marked(entry, list, previous)));
      }
    }
    document.set("current-context", name);
    write(path, document);
  });
}

/**
 * Takes a cluster out of a kubeconfig again, with its context and its user, if they are still those that were put there;
 * the context that was the current one before is so again. A file in which nothing is left is removed.
 */
export async function removeContext(
  path: string,
  name: string,
  url: string,
  clock: Clock = realClock(),
): Promise<void> {
  if (!existsSync(path)) return;
  await whileLocked(path, clock, () => {
    const document = readDocument(path);
    const cluster = named(entriesOf(document, "clusters"), name);
    if (!cluster || !isMarked(cluster, "clusters") || cluster.getIn(["cluster", "server"]) !== url) return;
    const context = named(entriesOf(document, "contexts"), name);
    const user = context?.getIn(["context", "user"]);
    const previous = (context && previousOf(context)) ?? "";
    for (const list of LIST_NAMES) {
      const entries = entriesOf(document, list);
      const entry = named(entries, list === "users" ? String(user) : name);
      if (entry && isMarked(entry, list)) remove(entries, entry);
    }
    if (LIST_NAMES.every((list) => entriesOf(document, list).items.length === 0)) return rmSync(real(path));
    const contexts = entriesOf(document, "contexts");
    if (document.get("current-context") === name)
      document.set("current-context", named(contexts, previous) ? previous : "");
    // Those that came after this one go back to where it came from.
    for (const later of contexts.items.filter((item) => isMap(item)))
      if (previousOf(later) === name) markOf(later, "contexts")?.setIn(["extension", "previous"], previous);
    write(path, document);
  });
}

function marked(entry: NamedEntry, list: keyof typeof LISTS, previous: string | undefined): object {
  const key = LISTS[list];
  const content = (entry as unknown as Record<string, object>)[key];
  const extension = list === "contexts" && previous !== undefined ? { previous } : {};
  return { ...entry, [key]: { ...content, extensions: [{ name: MARK, extension }] } };
}

function markOf(entry: YAMLMap, list: keyof typeof LISTS): YAMLMap | undefined {
  const extensions = entry.getIn([LISTS[list], "extensions"]);
  return isSeq(extensions) ? named(extensions, MARK) : undefined;
}

/** Which context was the current one before this became it. */
function previousOf(context: YAMLMap): string | undefined {
  const previous = markOf(context, "contexts")?.getIn(["extension", "previous"]);
  return typeof previous === "string" ? previous : undefined;
}

function isMarked(entry: YAMLMap, list: keyof typeof LISTS): boolean {
  return markOf(entry, list) !== undefined;
}

/** How long to wait for another process that writes the file, in milliseconds. */
const PATIENCE = 5000;

/** Holds the lock that kubectl takes as well: neither loses what the other writes. */
async function whileLocked(path: string, clock: Clock, work: () => void): Promise<void> {
  const lock = `${path}.lock`;
  const deadline = clock.monotonic() + PATIENCE;
  for (;;) {
    try {
      closeSync(openSync(lock, "wx", 0o600));
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw unusable(`the kubeconfig ${path}`, error);
      if (clock.monotonic() > deadline) {
        throw new UsageError(`another process is writing ${path}: if none is, remove ${lock}`);
      }
      await sleep(clock, 20);
    }
  }
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Readable by its owner alone: it now has an administrator's key. A reader sees the old file or the new one. */
function write(path: string, document: Document): void {
  // JSON is YAML as well, and every language reads it without a library.
  const text = path.endsWith(".json") ? `${JSON.stringify(document.toJS(), undefined, 2)}\n` : document.toString();
  const target = real(path);
  const draft = `${target}.${process.pid}.new`;
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw unusable(`the kubeconfig ${path}`, error);
  }
}

/** Where a link leads: the file is replaced, the link stays. */
function real(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

function readDocument(path: string): Document {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const document = parseDocument(text.trim() === "" ? "apiVersion: v1\nkind: Config\n" : text) as unknown as Document;
  if (document.errors.length > 0 || !isMap(document.contents)) {
    const [problem] = document.errors;
    const where = problem?.linePos ? ` (line ${problem.linePos[0].line})` : "";
    throw new UsageError(`${path} is not a kubeconfig${where}: fix it, or choose another file with --kubeconfig`);
  }
  return document;
}

function entriesOf(document: Document, list: string): YAMLSeq {
  const found = document.get(list);
  if (isSeq(found)) return found;
  const made = document.createNode([]) as YAMLSeq;
  made.flow = false;
  document.set(list, made);
  return made;
}

function named(entries: YAMLSeq, name: string): YAMLMap | undefined {
  return entries.items.find((item): item is YAMLMap => isMap(item) && item.get("name") === name);
}

function remove(entries: YAMLSeq, entry: YAMLMap | undefined): void {
  entries.items = entries.items.filter((item) => item !== entry);
}
