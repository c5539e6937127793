import * as der from "../../src/der/write.ts";
import * as id from "../../src/identifiers.ts";
import { extension, type Making } from "../make-certificate.ts";
import type { VerifyCase } from "../verify-case.ts";
import { authority, below, caseOf, pair, serverBelow } from "./case-of.ts";

const [ONE, TWO, ANY] = ["1.3.6.1.4.1.99999.1", "1.3.6.1.4.1.99999.2", "2.5.29.32.0"];
const number = (value: number) => Buffer.from([value]);

const policies = (...ids: string[]) =>
  extension(id.CERTIFICATE_POLICIES, der.sequence(...ids.map((one) => der.sequence(der.identifier(one)))));
const required = (after: number) =>
  extension(id.POLICY_CONSTRAINTS, der.sequence(der.implicit(0, number(after))), true);
const mappingInhibited = (after: number) =>
  extension(id.POLICY_CONSTRAINTS, der.sequence(der.implicit(0, number(0)), der.implicit(1, number(after))), true);
const anyInhibited = (after: number) => extension(id.INHIBIT_ANY_POLICY, der.integer(number(after)), true);
const mappings = (...pairs: [string, string][]) =>
  extension(id.POLICY_MAPPINGS, der.sequence(...pairs.map((one) => der.sequence(...one.map(der.identifier)))), true);

/** A root, an intermediate, a server; what each says about policies. */
function three(title: string, root: Buffer[], middle: Buffer[], server: Buffer[], more: Making = {}): VerifyCase {
  const trusted = authority({ extensions: root });
  const between = below(trusted, { extensions: middle, ...more });
  return caseOf(`policies: ${title}`, {
    chain: [serverBelow(between, { extensions: server }), between],
    roots: [trusted],
  });
}

/** Certificate policies count only where some authority requires one. */
export function policyCases(): VerifyCase[] {
  const trusted = authority();
  const strict = below(trusted, { extensions: [policies(ONE), required(0)] });
  return [
    three("none", [], [], []),
    three("different ones, none required", [], [policies(ONE)], [policies(TWO)]),
    three("the same one, required", [], [policies(ONE), required(0)], [policies(ONE)]),
    three("different ones, required", [], [policies(ONE), required(0)], [policies(TWO)]),
    three("none, but required", [], [policies(ONE), required(0)], []),
    three("required after one more", [], [policies(ONE), required(1)], []),
    three("required after two more", [], [policies(ONE), required(2)], []),
    three("a root that requires one counts for nothing", [required(0)], [], []),
    three("any, required", [], [policies(ANY), required(0)], [policies(TWO)]),
    three("any in the server's certificate", [], [policies(ONE), required(0)], [policies(ANY)]),
    three("any, which stands for nothing anymore", [], [policies(ONE), required(0), anyInhibited(0)], [policies(ANY)]),
    three("mapped", [], [policies(ONE), required(0), mappings([ONE, TWO])], [policies(TWO)]),
    three("mapped, but not used", [], [policies(ONE), required(0), mappings([ONE, TWO])], [policies(ONE)]),
    three("any, mapped", [], [policies(ANY), required(0), mappings([ONE, TWO])], [policies(TWO)]),
    three("any is mapped to another", [], [policies(ANY), required(0), mappings([ANY, TWO])], [policies(TWO)]),
    three("mapping is inhibited", [], [policies(ONE), mappingInhibited(0), mappings([ONE, TWO])], [policies(TWO)]),
    three("the server requires one itself", [], [], [required(0)]),
    three("the server requires one later", [], [], [required(1)]),
    three("required, and a wrong purpose", [], [policies(ONE), required(0)], [], { purposes: [id.CLIENT_AUTH] }),
    caseOf("policies: two chains, one with invalid policies and one with a wrong purpose", {
      chain: [serverBelow(strict), strict, below(trusted, { keys: strict.keys, purposes: [id.CLIENT_AUTH] })],
      roots: [trusted],
    }),
    pair("policies: the same one twice", {}, { extensions: [policies(ONE, ONE)] }),
    pair("policies: no list", {}, { extensions: [extension(id.CERTIFICATE_POLICIES, der.nothing())] }),
    pair(
      "policies: mappings that are none",
      {},
      { extensions: [extension(id.POLICY_MAPPINGS, der.sequence(der.nothing()))] },
    ),
    pair("policies: constraints that are none", {}, { extensions: [extension(id.POLICY_CONSTRAINTS, der.nothing())] }),
    pair("policies: a number that is none", {}, { extensions: [extension(id.INHIBIT_ANY_POLICY, der.nothing())] }),
  ];
}
