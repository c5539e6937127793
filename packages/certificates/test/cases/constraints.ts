import * as der from "../../src/der/write.ts";
import * as id from "../../src/identifiers.ts";
import { address, constraints, dns, email, extension, name, uri } from "../make-certificate.ts";
import type { VerifyCase } from "../verify-case.ts";
import { authority, below, caseOf, HOST, pair, serverBelow } from "./case-of.ts";

interface Limits {
  permitted?: Buffer[];
  excluded?: Buffer[];
}

/** Which names the certificates below an authority may have. */
export function constraintCases(): VerifyCase[] {
  return [...ofEachType(), ...places(), ...malformed()];
}

const limited = (title: string, limits: Limits, names: readonly Buffer[]) =>
  pair(title, { extensions: [constraints(limits)] }, { hosts: [], names: [dns(HOST), ...names] });
const ofDns = (title: string, limits: Limits, ...names: string[]) =>
  pair(title, { extensions: [constraints(limits)] }, { hosts: [HOST], names: names.map(dns) });
const permitted = (...names: Buffer[]) => ({ permitted: [dns("example.com"), ...names] });
const v6 = (last: number) => [0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), last];
const mask = (bits: number, size: number) =>
  Array.from({ length: size }, (_, i) => 0xff & ~(0xff >> Math.min(8, Math.max(0, bits - i * 8))));

function ofEachType(): VerifyCase[] {
  return [
    ofDns("a permitted domain", { permitted: [dns("example.com")] }),
    ofDns("a domain that is not permitted", { permitted: [dns("example.org")] }),
    ofDns("the permitted domain itself", { permitted: [dns("server.example.com")] }),
    ofDns("a permitted domain in capitals", { permitted: [dns("EXAMPLE.com")] }),
    ofDns("a domain that only ends alike", { permitted: [dns("ample.com")] }),
    ofDns("a dot before the permitted domain", { permitted: [dns(".example.com")] }),
    ofDns("a dot before the permitted domain, which is the name", { permitted: [dns(".server.example.com")] }),
    ofDns("everything is permitted", { permitted: [dns("")] }),
    ofDns("everything is excluded", { excluded: [dns("")] }),
    ofDns("an excluded domain", { excluded: [dns("example.com")] }),
    ofDns("another excluded domain", { excluded: [dns("example.org")] }),
    ofDns("permitted and excluded", { permitted: [dns("example.com")], excluded: [dns("server.example.com")] }),
    ofDns("another name is not permitted", { permitted: [dns("example.com")] }, "a.example.org"),
    ofDns("a wildcard is permitted", { permitted: [dns("example.com")] }, "*.example.com"),
    ofDns("a wildcard above a permitted domain", { permitted: [dns("a.example.com"), dns(HOST)] }, "*.example.com"),
    ofDns("a wildcard above an excluded domain", { excluded: [dns("a.example.com")] }, "*.example.com"),
    ofDns(
      "a wildcard above several excluded domains",
      { excluded: [dns("b.example.com"), dns("A.example.com")] },
      "*.Example.com",
    ),
    ofDns("a wildcard beside an excluded domain", { excluded: [dns("a.b.example.com")] }, "*.example.com"),
    ofDns(
      "several permitted domains, one of which contains another",
      {
        permitted: [dns("a-a.com"), dns("a.com"), dns("a.a.com"), dns("example.com"), dns("b.example.com")],
      },
      "x.a.a.com",
      "a-a.com",
      "b.b.example.com",
    ),
    ofDns(
      "several permitted domains, none of which contains the name",
      {
        permitted: [dns("a-a.com"), dns("a.com"), dns("a.a.com"), dns("example.com")],
      },
      "b-a.com",
    ),
    ofDns("the excluded domain that contains the other", { excluded: [dns("a.example.com"), dns("example.com")] }),
    ofDns("a name that is no domain", { permitted: [dns("example.com")] }, "a..example.com"),
    ofDns("a name with a dot at the end", { permitted: [dns("example.com")] }, "a.example.com."),
    ofDns("an empty name", { permitted: [dns("example.com")] }, ""),
    limited("a permitted range", permitted(address(10, 0, 0, 0, 255, 0, 0, 0)), [address(10, 1, 2, 3)]),
    limited("an address outside the permitted range", permitted(address(10, 0, 0, 0, 255, 0, 0, 0)), [
      address(11, 1, 2, 3),
    ]),
    limited("an excluded range", { excluded: [address(10, 0, 0, 0, 255, 0, 0, 0)] }, [address(10, 1, 2, 3)]),
    limited("an excluded range with further bits", { excluded: [address(10, 9, 9, 9, 255, 0, 0, 0)] }, [
      address(10, 1, 2, 3),
    ]),
    limited(
      "the range that contains the other",
      {
        excluded: [address(10, 1, 0, 0, 255, 255, 0, 0), address(10, 0, 0, 0, 255, 0, 0, 0)],
      },
      [address(10, 1, 2, 3)],
    ),
    limited("a permitted IPv6 range", permitted(address(...v6(0), ...mask(32, 16))), [address(...v6(1))]),
    limited("an excluded IPv6 range", { excluded: [address(...v6(0), ...mask(64, 16))] }, [address(...v6(1))]),
    limited("an IPv6 address where IPv4 ranges are permitted", permitted(address(10, 0, 0, 0, 255, 0, 0, 0)), [
      address(...v6(1)),
    ]),
    limited("a range of everything", permitted(address(0, 0, 0, 0, 0, 0, 0, 0)), [address(1, 2, 3, 4)]),
    limited("a permitted mail domain", permitted(email("example.com")), [email("a@example.com")]),
    limited("a mail domain below", permitted(email(".example.com")), [email("a@mail.example.com")]),
    limited("a mail domain that is not below", permitted(email(".example.com")), [email("a@example.com")]),
    limited("a permitted mailbox", permitted(email("a@example.com")), [email("a@EXAMPLE.com")]),
    limited("a mailbox in other letters", permitted(email("a@example.com")), [email("A@example.com")]),
    limited("an excluded mailbox", { excluded: [email("a@Example.com")] }, [email("a@example.com")]),
    limited("an excluded mail domain", { excluded: [email("example.com")] }, [email("a@example.com")]),
    limited("a quoted mailbox", permitted(email('"a b"@example.com')), [email('"a\\ b"@example.com')]),
    limited("no mailbox", permitted(email("example.com")), [email("example.com")]),
    limited("no mailbox, and no constraint for it", permitted(), [email("a..b@example.com")]),
    limited("a permitted URI", permitted(uri("example.com")), [uri("https://a.example.com:8443/x?y#z")]),
    limited("a URI that is not permitted", permitted(uri("example.com")), [uri("https://a.example.org/x")]),
    limited("a URI below a domain", permitted(uri(".example.com")), [uri("https://example.com/")]),
    limited("an excluded URI", { excluded: [uri("example.com")] }, [uri("spiffe://Example.com/ns/a/sa/b")]),
    limited("a URI with an address", permitted(uri("example.com")), [uri("https://10.0.0.1/")]),
    limited("a URI with an IPv6 address", permitted(uri("example.com")), [uri("https://[::1]:443/")]),
    limited("a URI without a host", permitted(uri("example.com")), [uri("urn:a:b")]),
    limited("a URI with too many colons", permitted(uri("example.com")), [uri("tcp://a:b:80/")]),
    limited("names of types that are not constrained", permitted(), [
      email("a@example.org"),
      uri("https://example.org"),
      address(1, 2, 3, 4),
    ]),
  ];
}

function places(): VerifyCase[] {
  const root = authority();
  const limits = constraints({ permitted: [dns("example.org")] });
  const strict = below(root, { extensions: [limits] });
  const wide = below(root, { extensions: [constraints({ permitted: [dns("example.com")] })] });
  const named = below(root, { hosts: ["intermediate.example.org"] });
  const strictRoot = authority({ extensions: [constraints({ permitted: [dns("example.com")] })] });
  const namedBelow = below(strictRoot, { hosts: ["intermediate.example.org"] });
  const own = serverBelow(root, { extensions: [limits] });
  const trustedWithLimits = serverBelow(root, { extensions: [limits] });
  return [
    caseOf("constraints of an intermediate, broken", { chain: [serverBelow(strict), strict], roots: [root] }),
    caseOf("constraints of an intermediate, kept", { chain: [serverBelow(wide), wide], roots: [root] }),
    caseOf("an intermediate with a name, unconstrained", { chain: [serverBelow(named), named], roots: [root] }),
    caseOf("an intermediate with a name that its root excludes", {
      chain: [serverBelow(namedBelow), namedBelow],
      roots: [strictRoot],
    }),
    caseOf("constraints of the certificate itself", { chain: [own], roots: [root] }),
    caseOf("constraints of a trusted certificate itself", { chain: [trustedWithLimits], roots: [trustedWithLimits] }),
    caseOf("a certificate without names below constraints", {
      chain: [serverBelow(strict, { hosts: [] }), strict],
      roots: [root],
      host: "",
    }),
    caseOf("the same authority with and without constraints", {
      chain: [serverBelow(strict), strict, below(root, { keys: strict.keys })],
      roots: [root],
    }),
    pair(
      "a directory name as a constraint, critical",
      {
        extensions: [constraints({ permitted: [der.explicit(4, name("x"))] })],
      },
      {},
    ),
    pair(
      "a directory name as a constraint, not critical",
      {
        extensions: [constraints({ permitted: [der.explicit(4, name("x"))] }, false)],
      },
      {},
    ),
  ];
}

/** Roots that cannot be read are not trusted; here they are sent, so that the reason is reported. */
function malformed(): VerifyCase[] {
  const root = authority();
  const sent = (title: string, value: Buffer) => {
    const middle = below(root, { extensions: [value] });
    return caseOf(`constraints: ${title}`, { chain: [serverBelow(middle), middle], roots: [root] });
  };
  return [
    sent("none", constraints({})),
    sent("an empty list", constraints({ permitted: [] })),
    sent("a domain with a dot at the end", constraints({ permitted: [dns("example.com.")] })),
    sent("a domain with an empty label", constraints({ permitted: [dns("a..example.com")] })),
    sent("a domain with a space", constraints({ permitted: [dns("a b")] })),
    sent("a domain that is not ASCII", constraints({ permitted: [dns("bücher.example.com")] })),
    sent("an address of the wrong length", constraints({ permitted: [address(10, 0, 0, 0)] })),
    sent("a mask with a gap", constraints({ permitted: [address(10, 0, 0, 0, 255, 0, 255, 0)] })),
    sent("no mailbox", constraints({ permitted: [email("a b@example.com")] })),
    sent("no mail domain", constraints({ permitted: [email("example..com")] })),
    sent("an address as a URI", constraints({ permitted: [uri("10.0.0.1")] })),
    sent("no domain as a URI", constraints({ excluded: [uri("https://example.com/ x")] })),
    sent("nonsense", extension(id.NAME_CONSTRAINTS, der.octetString(Buffer.from("x")), true)),
  ];
}
