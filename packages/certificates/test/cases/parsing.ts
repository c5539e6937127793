import * as der from "../../src/der/write.ts";
import * as id from "../../src/identifiers.ts";
import {
  dns,
  ecKeys,
  email,
  extension,
  generalizedTime,
  type Made,
  type Making,
  make,
  uri,
  utcTime,
} from "../make-certificate.ts";
import type { VerifyCase } from "../verify-case.ts";
import { authority, caseOf, pair, serverBelow } from "./case-of.ts";

/** What is refused before anything is verified. */
export function parsingCases(): VerifyCase[] {
  return [...numbersAndTimes(), ...names(), ...extensions(), ...bytes()];
}

const odd = (title: string, making: Making) => pair(title, {}, making);
const validity = (from: Buffer, until: Buffer) => ({ validity: der.sequence(from, until) });
const LATER = utcTime("270101000000Z");
const EARLIER = utcTime("260101000000Z");

function numbersAndTimes(): VerifyCase[] {
  return [
    odd("serial number 0", { serial: der.integer(Buffer.from([0])) }),
    odd("a negative serial number", { serial: Buffer.from([2, 1, 0x80]) }),
    odd("a serial number with a needless zero", { serial: Buffer.from([2, 2, 0, 1]) }),
    odd("an empty serial number", { serial: Buffer.from([2, 0]) }),
    odd("a serial number of 30 bytes", { serial: der.integer(Buffer.alloc(30, 0x11)) }),
    odd("a serial number that is text", { serial: der.utf8("1") }),
    odd("version 4", { version: 4 }),
    odd("a time without seconds", validity(utcTime("2601010000Z"), LATER)),
    odd("a time with an offset", validity(utcTime("260101000000+0130"), utcTime("260201000000-0500"))),
    odd("a time with an offset of 0", validity(utcTime("260101000000+0000"), LATER)),
    odd("a day that does not exist", validity(utcTime("260231000000Z"), LATER)),
    odd("an hour that does not exist", validity(utcTime("260101240000Z"), LATER)),
    odd("a second that does not exist", validity(utcTime("260101000060Z"), LATER)),
    odd("a time of 1950", validity(utcTime("500101000000Z"), LATER)),
    odd("a time with fractions", validity(generalizedTime("20260101000000.5Z"), LATER)),
    odd("a long time before 2050", validity(generalizedTime("20260101000000Z"), LATER)),
    odd("a long time with an offset", validity(EARLIER, generalizedTime("20260601130000+0100"))),
    odd("a long time that has passed, with an offset", validity(EARLIER, generalizedTime("20260601120000+0100"))),
    odd("the year 0", validity(generalizedTime("00000101000000Z"), LATER)),
    odd("the year 9999", validity(EARLIER, generalizedTime("99991231235959Z"))),
    odd("a time that is text", validity(der.utf8("260101000000Z"), LATER)),
    odd("one time alone", { validity: der.sequence(EARLIER) }),
  ];
}

function names(): VerifyCase[] {
  const attribute = (value: Buffer, type = id.COMMON_NAME) =>
    der.sequence(der.set(der.sequence(der.identifier(type), value)));
  const text = (tag: number, value: Buffer | string) => {
    const content = Buffer.from(value as string);
    return Buffer.concat([Buffer.from([tag, content.length]), content]);
  };
  return [
    odd("an empty subject", { subject: der.sequence() }),
    odd("a subject in UTF-8", { subject: "jürgen 🚀" }),
    odd("a subject that is no UTF-8", { subject: attribute(text(0x0c, Buffer.from([0xff, 0xfe]))) }),
    odd("a printable subject", { subject: attribute(text(0x13, "a & b * (c)")) }),
    odd("a printable subject with an @", { subject: attribute(text(0x13, "a@b")) }),
    odd("a numeric subject", { subject: attribute(text(0x12, "12 34")) }),
    odd("a numeric subject with letters", { subject: attribute(text(0x12, "a")) }),
    odd("a T.61 subject", { subject: attribute(text(0x14, Buffer.from([0xe9]))) }),
    odd("an IA5 subject", { subject: attribute(text(0x16, "a@b")) }),
    odd("an IA5 subject that is not ASCII", { subject: attribute(text(0x16, "é")) }),
    odd("a subject of two bytes a letter", { subject: attribute(text(0x1e, Buffer.from([0, 0x61, 0, 0x62]))) }),
    odd("a subject of two bytes a letter, cut", { subject: attribute(text(0x1e, Buffer.from([0, 0x61, 0]))) }),
    odd("a subject with a surrogate", { subject: attribute(text(0x1e, Buffer.from([0xd8, 0]))) }),
    odd("a universal string", { subject: attribute(text(0x1c, Buffer.from([0, 0, 0, 0x61]))) }),
    odd("a subject that is a number", { subject: attribute(der.integer(Buffer.from([1]))) }),
    odd("a subject without a set", { subject: der.sequence(der.sequence()) }),
    odd("an attribute without a value", {
      subject: der.sequence(der.set(der.sequence(der.identifier(id.COMMON_NAME)))),
    }),
    odd("an attribute with a huge identifier", { subject: attribute(der.utf8("x"), "1.2.4294967296") }),
  ];
}

function extensions(): VerifyCase[] {
  const raw = (identifier: string, value: Buffer, isCritical = false) => ({
    extensions: [extension(identifier, value, isCritical)],
  });
  const empty = Buffer.alloc(0);
  return [
    odd("the same extension twice", { extensions: [extension("1.2.3", empty), extension("1.2.3", empty)] }),
    odd("a critical field that is neither yes nor no", {
      extensions: [der.sequence(der.identifier("1.2.3"), Buffer.from([1, 1, 1]), der.octetString(empty))],
    }),
    odd("an extension without a value", { extensions: [der.sequence(der.identifier("1.2.3"))] }),
    odd("an extension that is no sequence", { extensions: [der.nothing()] }),
    odd("a key usage that is no bit string", raw(id.KEY_USAGE, der.nothing())),
    odd("a key usage with stray bits", raw(id.KEY_USAGE, Buffer.from([3, 2, 7, 0xff]))),
    odd("basic constraints that are none", raw(id.BASIC_CONSTRAINTS, der.nothing())),
    odd("a critical subject key identifier", raw(id.SUBJECT_KEY_ID, der.octetString(Buffer.from("x")), true)),
    odd("a subject key identifier that is none", raw(id.SUBJECT_KEY_ID, der.nothing())),
    odd("a critical authority key identifier", {
      issuerKeyId: false,
      ...raw(id.AUTHORITY_KEY_ID, der.sequence(der.implicit(0, Buffer.from("x"))), true),
    }),
    odd("an authority key identifier that is none", { issuerKeyId: false, ...raw(id.AUTHORITY_KEY_ID, der.nothing()) }),
    odd("an authority key identifier without a key", {
      issuerKeyId: false,
      ...raw(id.AUTHORITY_KEY_ID, der.sequence()),
    }),
    odd("purposes that are none", raw(id.EXTENDED_KEY_USAGE, der.sequence(der.nothing()))),
    odd(
      "distribution points",
      raw(id.CRL_DISTRIBUTION_POINTS, der.sequence(der.sequence(der.explicit(0, der.explicit(0, uri("http://crl")))))),
    ),
    odd("distribution points that are none", raw(id.CRL_DISTRIBUTION_POINTS, der.sequence(der.nothing()))),
    odd("a critical authority info access", raw(id.AUTHORITY_INFO_ACCESS, der.sequence(), true)),
    odd(
      "an authority info access",
      raw(
        id.AUTHORITY_INFO_ACCESS,
        der.sequence(der.sequence(der.identifier("1.3.6.1.5.5.7.48.1"), uri("http://ocsp"))),
      ),
    ),
    odd("an authority info access that is none", raw(id.AUTHORITY_INFO_ACCESS, der.sequence(der.nothing()))),
    odd("a DNS name that is not ASCII", { names: [dns("bücher")] }),
    odd("a mail address that is not ASCII", { names: [email("bücher@example.com")] }),
    odd("a URI that is not ASCII", { names: [uri("https://bücher")] }),
    odd("a URI that is none", { names: [uri("https://[::1")] }),
    odd("a URI with a bad escape", { names: [uri("https://example.com/%zz")] }),
    odd("a URI with a bad domain", { names: [uri("https://a..example.com/")] }),
    odd("an address of 5 bytes", { names: [der.implicit(7, Buffer.alloc(5))] }),
    odd("names that are no list", { hosts: [], ...raw(id.SUBJECT_ALTERNATIVE_NAME, der.nothing()) }),
  ];
}

function bytes(): VerifyCase[] {
  const root = authority();
  const good = serverBelow(root);
  const changed = (title: string, raw: Buffer) => caseOf(title, { chain: [{ ...good, raw }], roots: [root] });
  const second: Made = make({ keys: ecKeys() });
  return [
    changed("bytes after the certificate", Buffer.concat([good.raw, Buffer.from([0])])),
    changed("two certificates in one", Buffer.concat([good.raw, second.raw])),
    changed("a certificate that is cut", good.raw.subarray(0, -1)),
    changed("no bytes", Buffer.alloc(0)),
    changed("an empty sequence", der.sequence()),
    changed("an empty certificate", der.sequence(der.sequence())),
    changed("text", Buffer.from("certificate")),
    changed(
      "a length that is not in its shortest form",
      Buffer.concat([Buffer.from([0x30, 0x83, 0]), good.raw.subarray(2)]),
    ),
    caseOf("an intermediate that cannot be read", { chain: [good, { ...good, raw: der.sequence() }], roots: [root] }),
    caseOf("a root that cannot be read", { chain: [good], roots: [{ ...root, raw: root.raw.subarray(0, -1) }] }),
  ];
}
