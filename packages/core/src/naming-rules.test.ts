import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cIdentifierErrors,
  configMapKeyErrors,
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  environmentNameErrors,
  httpHeaderNameErrors,
  labelValueErrors,
  maskTrailingDash,
  pathSegmentErrors,
  percentErrors,
  portNameErrors,
  portNumberErrors,
  qualifiedNameErrors,
  wildcardDns1123SubdomainErrors,
} from "./naming-rules.ts";

const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const KEY =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

test("a DNS label", () => {
  assert.deepEqual(dns1123LabelErrors("my-name1"), []);
  assert.deepEqual(dns1123LabelErrors("a".repeat(63)), []);
  assert.deepEqual(dns1123LabelErrors("a".repeat(64)), ["must be no more than 63 characters"]);
  assert.deepEqual(dns1123LabelErrors("a".repeat(64), "bytes"), ["must be no more than 63 bytes"]);
  assert.deepEqual(dns1123LabelErrors("a.b"), ["must not contain dots"]);
  for (const bad of ["", "-a", "a-", "A", "a_b"]) assert.deepEqual(dns1123LabelErrors(bad), [LABEL], bad);
});

test("a DNS subdomain", () => {
  assert.deepEqual(dns1123SubdomainErrors("a.b-c.d"), []);
  assert.deepEqual(dns1123SubdomainErrors(`${"a.".repeat(126)}a`), []);
  assert.deepEqual(dns1123SubdomainErrors(`${"a.".repeat(127)}a`), ["must be no more than 253 characters"]);
  for (const bad of ["", ".a", "a.", "a..b", "A.b", "a\n"])
    assert.deepEqual(dns1123SubdomainErrors(bad), [SUBDOMAIN], bad);
  assert.deepEqual(wildcardDns1123SubdomainErrors("*.a.b"), []);
  assert.match(wildcardDns1123SubdomainErrors("*.*.b")[0]!, /^a wildcard DNS-1123 subdomain must start with '\*\.'/);
});

test("a label that starts with a letter", () => {
  assert.deepEqual(dns1035LabelErrors("a1"), []);
  assert.deepEqual(dns1035LabelErrors("1a"), [
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
  ]);
});

test("a qualified name", () => {
  assert.deepEqual(qualifiedNameErrors("App_1.x"), []);
  assert.deepEqual(qualifiedNameErrors("example.com/App"), []);
  assert.deepEqual(qualifiedNameErrors(""), ["name part must be non-empty", `name part ${KEY}`]);
  assert.deepEqual(qualifiedNameErrors("/a"), ["prefix part must be non-empty"]);
  assert.deepEqual(qualifiedNameErrors("A_b/a"), [`prefix part ${SUBDOMAIN}`]);
  assert.deepEqual(qualifiedNameErrors("a".repeat(64)), ["name part must be no more than 63 bytes"]);
  assert.deepEqual(qualifiedNameErrors("a/b/c"), [
    `a valid label key ${KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
  ]);
});

test("a label's value counts bytes, not characters", () => {
  assert.deepEqual(labelValueErrors(""), []);
  assert.deepEqual(labelValueErrors("v1.2_x"), []);
  assert.deepEqual(labelValueErrors("-"), [VALUE]);
  assert.deepEqual(labelValueErrors("é".repeat(40)), ["must be no more than 63 bytes", VALUE]);
});

test("keys of ConfigMaps, environment variables, headers and identifiers", () => {
  assert.deepEqual(configMapKeyErrors("..data"), ["must not start with '..'"]);
  assert.deepEqual(configMapKeyErrors(".."), ["must not be '..'"]);
  assert.deepEqual(configMapKeyErrors("a b").length, 1);
  assert.deepEqual(environmentNameErrors("1 odd-but.fine"), []);
  assert.deepEqual(environmentNameErrors(""), ["environment variable name must be non-empty"]);
  assert.match(environmentNameErrors("A=B")[0]!, /printable ASCII characters other than '='$/);
  assert.deepEqual(httpHeaderNameErrors("X-Trace"), []);
  assert.equal(httpHeaderNameErrors("X_Trace").length, 1);
  assert.deepEqual(cIdentifierErrors("_a1"), []);
  assert.equal(cIdentifierErrors("1a").length, 1);
  assert.deepEqual(percentErrors("50%"), []);
  assert.equal(percentErrors("50").length, 1);
});

test("ports", () => {
  assert.deepEqual(portNameErrors("http-2"), []);
  assert.deepEqual(portNameErrors("-1--"), [
    "must contain at least one letter (a-z)",
    "must not contain consecutive hyphens",
    "must not begin or end with a hyphen",
  ]);
  assert.deepEqual(portNameErrors("a-very-long-name"), ["must be no more than 15 characters"]);
  assert.deepEqual(portNumberErrors(65535), []);
  assert.deepEqual(portNumberErrors(0), ["must be between 1 and 65535, inclusive"]);
});

test("a name fit to be a segment of a path", () => {
  assert.deepEqual(pathSegmentErrors("system:node"), []);
  assert.deepEqual(pathSegmentErrors(".."), ["may not be '..'"]);
  assert.deepEqual(pathSegmentErrors("a/b%"), ["may not contain '/'", "may not contain '%'"]);
});

test("the dash that ends a generateName is forgiven", () => {
  assert.deepEqual(dns1123SubdomainErrors(maskTrailingDash("web-")), []);
  assert.equal(dns1123SubdomainErrors(maskTrailingDash("-")).length, 1);
});
