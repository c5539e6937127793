import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type Document, isMap, isSeq, parse, parseDocument, type YAMLMap, type YAMLSeq } from "yaml";

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

const LISTS = ["clusters", "contexts", "users"] as const;

/** Writes a kubeconfig of its own, readable by its owner alone. */
export function writeKubeconfig(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  // A reader sees the old file or the new one, never half of it.
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}

/** Puts the one cluster, user and context of a kubeconfig into a user's, and makes the context the current one. */
export function mergeKubeconfig(path: string, text: string): void {
  const ours = parse(text) as Kubeconfig;
  const document = readDocument(path);
  for (const list of LISTS) {
    const entries = entriesOf(document, list);
    for (const entry of ours[list]) {
      removeNamed(entries, entry.name);
      entries.add(document.createNode(entry));
    }
  }
  document.set("current-context", ours["current-context"]);
  writeKubeconfig(path, document.toString());
}

/** Takes a context out of a user's kubeconfig again, with the cluster and the user of the same entry. */
export function removeContext(path: string, name: string): void {
  if (!existsSync(path)) return;
  const document = readDocument(path);
  const contexts = (parse(readFileSync(path, "utf8")) as Partial<Kubeconfig> | null)?.contexts ?? [];
  const user = (contexts as { name: string; context?: { user?: string } }[]).find((one) => one.name === name)?.context
    ?.user;
  removeNamed(entriesOf(document, "clusters"), name);
  removeNamed(entriesOf(document, "contexts"), name);
  if (user !== undefined) removeNamed(entriesOf(document, "users"), user);
  if (document.get("current-context") === name) document.set("current-context", "");
  writeKubeconfig(path, document.toString());
}

function readDocument(path: string): Document {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const document = parseDocument(text.trim() === "" ? "apiVersion: v1\nkind: Config\n" : text) as unknown as Document;
  if (document.errors.length > 0 || !isMap(document.contents)) {
    throw new Error(`${path} is not a kubeconfig: repair it, or choose another file with --kubeconfig`);
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

function removeNamed(entries: YAMLSeq, name: string): void {
  entries.items = entries.items.filter((item) => !isMap(item) || (item as YAMLMap).get("name") !== name);
}
