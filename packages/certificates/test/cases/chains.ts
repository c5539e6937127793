import * as der from "../../src/der/write.ts";
import * as id from "../../src/identifiers.ts";
import { ecKeys, extension, make, name } from "../make-certificate.ts";
import type { VerifyCase } from "../verify-case.ts";
import { authority, below, caseOf, HOST, NOW, pair, serverBelow } from "./case-of.ts";

const CERT_SIGN = 5;
const DIGITAL_SIGNATURE = 0;

/** How chains are built, and who may be in them. */
export function chainCases(): VerifyCase[] {
  return [...built(), ...times(), ...authorities(), ...pathLengths(), ...usages(), ...criticalExtensions()];
}

function built(): VerifyCase[] {
  const root = authority();
  const middle = below(root);
  const leaf = serverBelow(middle);
  const stranger = authority({ subject: "stranger" });
  const namesake = authority();
  const leafOfNamesake = serverBelow(namesake);
  const otherKeyId = Buffer.from("0102030405060708", "hex");
  const noKeyIds = authority({ keyId: false });
  const sameSubject = authority({ subject: name("webhook.knative.svc") });
  const second = below(middle, { subject: "second" });
  const deep = serverBelow(second);
  const own = serverBelow(stranger);
  const selfSigned = make({ hosts: [HOST] });
  const [a, b] = [ecKeys(), ecKeys()];
  const bySelf = make({ subject: "a", ca: true, keys: a });
  const other = make({ subject: "b", ca: true, keys: b });
  const crossA = make({ subject: "a", ca: true, keys: a, issuer: other });
  const crossB = make({ subject: "b", ca: true, keys: b, issuer: bySelf });
  const crossLeaf = serverBelow(bySelf);
  return [
    caseOf("directly below a root", { chain: [serverBelow(root)], roots: [root] }),
    caseOf("below an intermediate that is sent", { chain: [leaf, middle], roots: [root] }),
    caseOf("the intermediate is missing", { chain: [leaf], roots: [root] }),
    caseOf("the root is sent too", { chain: [leaf, middle, root], roots: [root] }),
    caseOf("intermediates in any order, among others", {
      chain: [deep, stranger, second, root, middle],
      roots: [root],
    }),
    caseOf("no roots", { chain: [leaf, middle, root], roots: [] }),
    caseOf("another root", { chain: [leaf, middle], roots: [stranger] }),
    caseOf("a root of the same name with another key", { chain: [leafOfNamesake], roots: [root] }),
    caseOf("two roots of the same name, the right one last", { chain: [leafOfNamesake], roots: [root, namesake] }),
    caseOf("two intermediates of the same name", {
      chain: [leaf, below(root, { keyId: otherKeyId }), below(root), middle],
      roots: [root],
    }),
    caseOf("the issuer has another key identifier than the certificate names", {
      chain: [serverBelow(root, { issuerKeyId: otherKeyId })],
      roots: [root],
    }),
    caseOf("the certificate names no key identifier", {
      chain: [serverBelow(root, { issuerKeyId: false })],
      roots: [root],
    }),
    caseOf("the issuer has no key identifier", {
      chain: [serverBelow(noKeyIds, { issuerKeyId: otherKeyId })],
      roots: [noKeyIds],
    }),
    caseOf("subject and issuer are the same, without key identifiers", {
      chain: [serverBelow(sameSubject, { subject: sameSubject.subject, issuerKeyId: false })],
      roots: [sameSubject],
    }),
    caseOf("a root that is not self-signed", { chain: [leaf], roots: [middle] }),
    caseOf("a root that is not self-signed, above another", { chain: [deep, second], roots: [middle] }),
    caseOf("the certificate itself is among the roots", { chain: [own], roots: [own] }),
    caseOf("self-signed and trusted", { chain: [selfSigned], roots: [selfSigned] }),
    caseOf("self-signed and not trusted", { chain: [selfSigned], roots: [root] }),
    caseOf("authorities that signed each other, one trusted", { chain: [crossLeaf, crossA, crossB], roots: [other] }),
    caseOf("authorities that signed each other, none trusted", { chain: [crossLeaf, crossA, crossB], roots: [root] }),
    caseOf("a forged signature of the certificate", { chain: [serverBelow(root, { forged: true })], roots: [root] }),
    caseOf("a forged signature of the intermediate", {
      chain: [leaf, below(root, { forged: true, keys: middle.keys })],
      roots: [root],
    }),
    caseOf("a forged signature of the root does not matter", {
      chain: [serverBelow(root)],
      roots: [make({ subject: "root", ca: true, keys: root.keys, forged: true })],
    }),
    caseOf("the issuer's name in another encoding", {
      chain: [
        serverBelow({
          ...root,
          subject: der.sequence(der.set(der.sequence(der.identifier(id.COMMON_NAME), printable("root")))),
        }),
      ],
      roots: [root],
    }),
    caseOf("an authority without a common name", {
      chain: [serverBelow(organization("Example"))],
      roots: [organization("Example")],
    }),
    caseOf("an authority without any name", { chain: [serverBelow(nameless())], roots: [nameless()] }),
    caseOf("too many intermediates of the same name", {
      chain: [
        leaf,
        ...Array.from({ length: 101 }, () => make({ subject: "intermediate", ca: true, keyId: false, keys: a })),
      ],
      roots: [root],
    }),
  ];
}

const printable = (text: string) => Buffer.concat([Buffer.from([0x13, text.length]), Buffer.from(text)]);
const organization = (text: string) =>
  authority({ subject: der.sequence(der.set(der.sequence(der.identifier(id.ORGANIZATION), der.utf8(text)))) });
const nameless = () => authority({ subject: der.sequence() });

function times(): VerifyCase[] {
  const root = authority();
  const old = authority({ subject: "old", until: "2026-05-01" });
  const young = authority({ subject: "young", from: "2026-07-01" });
  const middle = below(root, { until: "2026-05-01" });
  const good = serverBelow(root);
  const brief = serverBelow(root, { from: "2026-06-01T12:00:00Z", until: "2026-06-01T12:00:01Z" });
  const at = (time: string) => ({ chain: [brief], roots: [root], time });
  return [
    caseOf("expired", { chain: [serverBelow(root, { until: "2026-05-01" })], roots: [root] }),
    caseOf("not yet valid", { chain: [serverBelow(root, { from: "2026-07-01" })], roots: [root] }),
    caseOf("the first second", at("2026-06-01T12:00:00Z")),
    caseOf("just before the first second", at("2026-06-01T11:59:59.999Z")),
    caseOf("the last second", at("2026-06-01T12:00:01Z")),
    caseOf("just after the last second", at("2026-06-01T12:00:01.001Z")),
    caseOf("an expired root", { chain: [serverBelow(old)], roots: [old] }),
    caseOf("a root of the future", { chain: [serverBelow(young)], roots: [young] }),
    caseOf("an expired intermediate", { chain: [serverBelow(middle), middle], roots: [root] }),
    caseOf("an expired intermediate, and one that is not", {
      chain: [serverBelow(middle), middle, below(root, { keys: middle.keys })],
      roots: [root],
    }),
    caseOf("after 2050", { chain: [good], roots: [root], time: "2051-01-01T00:00:00Z" }),
    caseOf("valid until after 2050", {
      chain: [serverBelow(authorityFor100Years)],
      roots: [authorityFor100Years],
      time: NOW,
    }),
  ];
}

const authorityFor100Years = authority({ subject: "century", until: "2126-01-01" });

function authorities(): VerifyCase[] {
  const root = authority();
  const notCa = below(root, { ca: false });
  const silent = make({ subject: "intermediate", issuer: root });
  const v1 = authority({ version: 1 });
  const v1Middle = make({ subject: "intermediate", issuer: root, version: 1 });
  const v2 = authority({ version: 2 });
  const signs = authority({ usages: [CERT_SIGN] });
  const signsNot = authority({ usages: [DIGITAL_SIGNATURE] });
  const middleSignsNot = below(root, { usages: [DIGITAL_SIGNATURE] });
  return [
    pair("a root that says it is no authority", { ca: false }, {}),
    caseOf(
      "a root that does not say whether it is an authority",
      (() => {
        const trusted = make({ subject: "root" });
        return { chain: [serverBelow(trusted)], roots: [trusted] };
      })(),
    ),
    caseOf("a root of version 1", { chain: [serverBelow(v1)], roots: [v1] }),
    caseOf("a root of version 2", { chain: [serverBelow(v2)], roots: [v2] }),
    caseOf("an intermediate of version 1", { chain: [serverBelow(v1Middle), v1Middle], roots: [root] }),
    caseOf("an intermediate that says it is no authority", { chain: [serverBelow(notCa), notCa], roots: [root] }),
    caseOf("an intermediate that does not say whether it is an authority", {
      chain: [serverBelow(silent), silent],
      roots: [root],
    }),
    caseOf("a root whose key is for signing certificates", { chain: [serverBelow(signs)], roots: [signs] }),
    caseOf("a root whose key is not for signing certificates", { chain: [serverBelow(signsNot)], roots: [signsNot] }),
    caseOf("an intermediate whose key is not for signing certificates", {
      chain: [serverBelow(middleSignsNot), middleSignsNot],
      roots: [root],
    }),
    pair("a key usage without any bits", { extensions: [extension(id.KEY_USAGE, Buffer.from([3, 1, 0]), true)] }, {}),
    pair("a server's certificate that is an authority", {}, { ca: true }),
    pair("a server's key that is for signing certificates alone", {}, { usages: [CERT_SIGN] }),
  ];
}

function pathLengths(): VerifyCase[] {
  const chainBelow = (length: number | true, count: number) => {
    const root = authority({ ca: length });
    const middles = [below(root, { subject: "1" })];
    for (let i = 2; i <= count; i++) middles.unshift(below(middles[0]!, { subject: String(i) }));
    const [last = root] = count === 0 ? [] : middles;
    return { chain: [serverBelow(last), ...(count === 0 ? [] : middles)], roots: [root] };
  };
  const root = authority();
  const narrow = below(root, { ca: 0, subject: "narrow" });
  const under = below(narrow, { subject: "under" });
  return [
    caseOf("a path length of 0, no intermediate", chainBelow(0, 0)),
    caseOf("a path length of 0, one intermediate", chainBelow(0, 1)),
    caseOf("a path length of 1, one intermediate", chainBelow(1, 1)),
    caseOf("a path length of 1, two intermediates", chainBelow(1, 2)),
    caseOf("no path length, three intermediates", chainBelow(true, 3)),
    caseOf("a path length of 0 in an intermediate above another", {
      chain: [serverBelow(under), under, narrow],
      roots: [root],
    }),
    pair("a negative path length", { extensions: [basicConstraints(Buffer.from([2, 1, 0xff]))], ca: undefined }, {}),
  ];
}

const basicConstraints = (pathLength: Buffer) =>
  extension(id.BASIC_CONSTRAINTS, der.sequence(der.boolean(true), pathLength), true);

function usages(): VerifyCase[] {
  const root = authority();
  const clients = below(root, { purposes: [id.CLIENT_AUTH] });
  const servers = below(root, { purposes: [id.SERVER_AUTH, id.CLIENT_AUTH] });
  const anything = below(root, { purposes: [id.ANY_PURPOSE] });
  const clientRoot = authority({ purposes: [id.CLIENT_AUTH] });
  return [
    pair("for servers", {}, { purposes: [id.SERVER_AUTH] }),
    pair("for clients alone", {}, { purposes: [id.CLIENT_AUTH] }),
    pair("for anything", {}, { purposes: [id.ANY_PURPOSE] }),
    pair("for something unknown", {}, { purposes: ["1.3.6.1.4.1.99999.1"] }),
    pair("for something unknown, and for servers", {}, { purposes: ["1.3.6.1.4.1.99999.1", id.SERVER_AUTH] }),
    pair("an empty list of purposes", {}, { purposes: [] }),
    caseOf("below an authority for clients", { chain: [serverBelow(clients), clients], roots: [root] }),
    caseOf("below an authority for servers and clients", { chain: [serverBelow(servers), servers], roots: [root] }),
    caseOf("below an authority for anything", { chain: [serverBelow(anything), anything], roots: [root] }),
    caseOf("below a root for clients", { chain: [serverBelow(clientRoot)], roots: [clientRoot] }),
    caseOf("below an authority for clients, and the same one for servers", {
      chain: [serverBelow(clients), clients, below(root, { keys: clients.keys, purposes: [id.SERVER_AUTH] })],
      roots: [root],
    }),
  ];
}

function criticalExtensions(): VerifyCase[] {
  const unknown = (isCritical: boolean) => extension("1.3.6.1.4.1.99999.2", der.nothing(), isCritical);
  const root = authority();
  const middle = below(root, { extensions: [unknown(true)] });
  const strictRoot = authority({ extensions: [unknown(true)] });
  return [
    pair("an unknown extension", {}, { extensions: [unknown(false)] }),
    pair("an unknown critical extension", {}, { extensions: [unknown(true)] }),
    caseOf("an unknown critical extension of the intermediate", {
      chain: [serverBelow(middle), middle],
      roots: [root],
    }),
    caseOf("an unknown critical extension of the root", { chain: [serverBelow(strictRoot)], roots: [strictRoot] }),
    pair(
      "critical names that are all understood",
      {},
      {
        hosts: [],
        extensions: [extension(id.SUBJECT_ALTERNATIVE_NAME, der.sequence(der.implicit(2, Buffer.from(HOST))), true)],
      },
    ),
    pair(
      "critical names of which none is understood",
      {},
      {
        hosts: [],
        extensions: [extension(id.SUBJECT_ALTERNATIVE_NAME, der.sequence(der.explicit(4, name("x"))), true)],
      },
    ),
  ];
}
