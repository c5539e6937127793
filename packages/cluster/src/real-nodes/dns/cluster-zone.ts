import type { Answer, Packet, Question } from "dns-packet";
import type { ClusterNames } from "../../streams/cluster-names.ts";
import type { DnsRecord } from "../../userland/network.ts";

const ZONE = "cluster.local";
/** Seconds for which answers may be kept, as CoreDNS has it. */
const TTL = 30;
const NEGATIVE_TTL = 5;
const AUTHORITATIVE = 1 << 10;
const RECURSION = 1 << 7;
const NXDOMAIN = 3;

/** The response to a query about the cluster's zone, without the ID of the query. */
export type ZoneAnswer = Pick<Packet, "flags" | "answers" | "additionals" | "authorities">;

/** The host that an answer leads to but says nothing about: the rest is found elsewhere. */
export function openAlias({ answers = [] }: ZoneAnswer, { type }: Question): string | undefined {
  const last = answers.at(-1);
  return type !== "CNAME" && last?.type === "CNAME" ? last.data : undefined;
}

/**
 * What the cluster's name server answers, by the records of Services and pods. Undefined for names that are not the cluster's:
 * another server answers them.
 */
export function answerFromCluster(names: ClusterNames, question: Question): ZoneAnswer | undefined {
  const name = question.name.toLowerCase().replace(/\.$/, "");
  const isPointer = name.endsWith(".in-addr.arpa");
  if (!isPointer && name !== ZONE && !name.endsWith(`.${ZONE}`)) return undefined;
  const records = recordsOf(names, name, question.type);
  if (isPointer && records.length === 0) return undefined;
  const answers = records.map((record) => answerOf(record, question.name));
  if (answers.length > 0) return { flags: AUTHORITATIVE | RECURSION, answers, additionals: targets(names, answers) };
  const code = exists(names, name) ? 0 : NXDOMAIN;
  return { flags: AUTHORITATIVE | RECURSION | code, answers, authorities: [START_OF_AUTHORITY] };
}

function recordsOf(names: ClusterNames, name: string, type: Question["type"]): readonly DnsRecord[] {
  switch (type) {
    case "A":
    case "SRV":
    case "PTR":
    case "CNAME":
      return names.lookup(name, type);
    // Services and pods have IPv4 addresses alone; an alias stands for all types.
    case "AAAA":
      return names.lookup(name, "CNAME");
    default:
      return [];
  }
}

/** A name that exists has no records of a type; one that does not is reported as such, and programs look for it elsewhere. */
function exists(names: ClusterNames, name: string): boolean {
  const isAbove = [ZONE, `svc.${ZONE}`, `pod.${ZONE}`].includes(name);
  return isAbove || (["A", "SRV", "CNAME"] as const).some((type) => names.lookup(name, type).length > 0);
}

function answerOf({ name, type, value }: DnsRecord, asked: string): Answer {
  const common = {
    name: name === asked.toLowerCase().replace(/\.$/, "") ? asked : name,
    ttl: TTL,
    class: "IN" as const,
  };
  if (type === "A") return { ...common, type, data: value };
  if (type !== "SRV") return { ...common, type, data: value.replace(/\.$/, "") };
  const [priority, weight, port, target = ""] = value.split(" ");
  const data = {
    priority: Number(priority),
    weight: Number(weight),
    port: Number(port),
    target: target.replace(/\.$/, ""),
  };
  return { ...common, type, data };
}

/** The addresses of the hosts that SRV records name. */
function targets(names: ClusterNames, answers: readonly Answer[]): Answer[] {
  const hosts = new Set(answers.flatMap((one) => (one.type === "SRV" ? [one.data.target] : [])));
  return [...hosts].flatMap((host) => names.lookup(host, "A").map((record) => answerOf(record, host)));
}

const START_OF_AUTHORITY: Answer = {
  name: ZONE,
  type: "SOA",
  class: "IN",
  ttl: NEGATIVE_TTL,
  data: {
    mname: `ns.dns.${ZONE}`,
    rname: `hostmaster.${ZONE}`,
    serial: 1,
    refresh: 7200,
    retry: 1800,
    expire: 86_400,
    minimum: NEGATIVE_TTL,
  },
};
