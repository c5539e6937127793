import * as der from "../../src/der/write.ts";
import { address, dns, email, make, uri } from "../make-certificate.ts";
import type { VerifyCase } from "../verify-case.ts";
import { caseOf, pair } from "./case-of.ts";

/** Which names and addresses a certificate is for. */
export function hostnameCases(): VerifyCase[] {
  const named = (hosts: readonly string[], host: string) =>
    pair(`${JSON.stringify(host)} with names ${hosts.join(" ") || "(none)"}`, {}, { hosts }, { host });
  const common = (commonName: string, host: string, hosts: readonly string[] = []) =>
    pair(
      `${JSON.stringify(host)} with the common name ${commonName} and names ${hosts.join(" ") || "(none)"}`,
      {},
      { subject: commonName, hosts },
      { host },
    );
  const trusted = make({ subject: "server", hosts: ["a.example.com"] });
  return [
    named(["a.example.com"], "a.example.com"),
    named(["a.example.com", "b.example.com"], "c.example.com"),
    named(["a.example.com"], "A.Example.COM"),
    named(["A.EXAMPLE.com"], "a.example.com"),
    named(["a.example.com"], "a.example.com."),
    named(["a.example.com"], "a.example.com.."),
    named(["a.example.com."], "a.example.com."),
    named(["a.example.com."], "a.example.com"),
    named(["*.example.com"], "a.example.com"),
    named(["*.example.com"], "a.b.example.com"),
    named(["*.example.com"], "example.com"),
    named(["*.example.com"], "A.example.com."),
    named(["*.EXAMPLE.com"], "*.example.com"),
    named(["*.example.com"], "under_score.example.com"),
    named(["a*.example.com"], "ab.example.com"),
    named(["a*.example.com"], "a*.example.com"),
    named(["a.*.example.com"], "a.b.example.com"),
    named(["*"], "a"),
    named(["*"], "*"),
    named(["*.com"], "example.com"),
    named(["*.example.com"], ".example.com"),
    named(["-a.example.com"], "-a.example.com"),
    named(["a-.example.com"], "a-.example.com"),
    named(["a b"], "A B"),
    named(["a b"], "a b."),
    named(["webhook-service.system.svc"], "webhook-service.system.svc"),
    named(["webhook-service.system.svc"], "webhook-service.system.svc.cluster.local"),
    named(["xn--bcher-kva.example.com"], "bücher.example.com"),
    named([""], "."),
    named(["a.example.com"], ""),
    named(["127.0.0.1"], "127.0.0.1"),
    named(["127.0.0.1", "::1", "2001:db8::1"], "10.0.0.1"),
    named(["127.0.0.1"], "[127.0.0.1]"),
    named(["::1"], "::1"),
    named(["::1"], "[::1]"),
    named(["::1"], "[0:0::1]"),
    named(["2001:db8::1"], "2001:0DB8::0001"),
    named(["2001:db8::1"], "fe80::1%eth0"),
    named(["a.example.com"], "127.0.0.1"),
    named(["127.0.0.1"], "a.example.com"),
    named(["127.0.0.1"], "127.0.0.01"),
    named(["127.0.0.1"], "::ffff:127.0.0.1"),
    pair(
      "an IPv4 address that is written as an IPv6 one",
      {},
      {
        hosts: [],
        names: [address(...Array<number>(10).fill(0), 0xff, 0xff, 10, 0, 0, 1)],
      },
      { host: "10.0.0.1" },
    ),
    pair(
      "another address than one that is written as an IPv6 one",
      {},
      {
        hosts: [],
        names: [address(...Array<number>(10).fill(0), 0xff, 0xff, 10, 0, 0, 1)],
      },
      { host: "10.0.0.2" },
    ),
    pair("an address as a DNS name", {}, { hosts: [], names: [dns("10.0.0.1")] }, { host: "10.0.0.1" }),
    pair(
      "other names alone",
      {},
      { hosts: [], names: [email("a@example.com"), uri("https://a.example.com/x")] },
      { host: "a.example.com" },
    ),
    pair(
      "100 names",
      {},
      { hosts: Array.from({ length: 100 }, (_, i) => `h${i}.example.com`) },
      { host: "x.example.com" },
    ),
    pair("99 names", {}, { hosts: Array.from({ length: 99 }, (_, i) => `h${i}`) }, { host: "x" }),
    pair("100 addresses", {}, { hosts: Array.from({ length: 100 }, (_, i) => `10.0.0.${i}`) }, { host: "10.1.0.0" }),
    common("a.example.com", "a.example.com"),
    common("*.example.com", "a.example.com"),
    common("a.example.com", "b.example.com"),
    common("a.example.com", "a.example.com", ["b.example.com"]),
    common("10.0.0.1", "10.0.0.1"),
    caseOf("a trusted certificate for another host", { chain: [trusted], roots: [trusted], host: "b.example.com" }),
    pair(
      "a directory name beside a DNS name",
      {},
      {
        hosts: ["a.example.com"],
        names: [der.explicit(4, der.sequence())],
      },
      { host: "a.example.com" },
    ),
  ];
}
