import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ApiError,
  alreadyExists,
  badRequest,
  conflict,
  expired,
  forbidden,
  invalid,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isResourceExpired,
  methodNotAllowed,
  modified,
  notFound,
  tooManyRequests,
} from "./status-error.ts";

const pods = { group: "", plural: "pods" };
const deployments = { group: "apps", plural: "deployments" };

test("each error carries the server's code, reason, message and details", () => {
  const expected: [ApiError, number, string, string, object | undefined][] = [
    [notFound(pods, "x"), 404, "NotFound", 'pods "x" not found', { name: "x", kind: "pods" }],
    [
      notFound(deployments, "x"),
      404,
      "NotFound",
      'deployments.apps "x" not found',
      { name: "x", group: "apps", kind: "deployments" },
    ],
    [alreadyExists(pods, "x"), 409, "AlreadyExists", 'pods "x" already exists', { name: "x", kind: "pods" }],
    [
      conflict(pods, "x", "why"),
      409,
      "Conflict",
      'Operation cannot be fulfilled on pods "x": why',
      { name: "x", kind: "pods" },
    ],
    [
      modified(pods, "x"),
      409,
      "Conflict",
      'Operation cannot be fulfilled on pods "x": the object has been modified; please apply your changes to the latest version and try again',
      { name: "x", kind: "pods" },
    ],
    [forbidden(pods, "x", "why"), 403, "Forbidden", 'pods "x" is forbidden: why', { name: "x", kind: "pods" }],
    [forbidden(pods, "", "why"), 403, "Forbidden", "pods is forbidden: why", { kind: "pods" }],
    [forbidden({ group: "", plural: "" }, "", "why"), 403, "Forbidden", "forbidden: why", {}],
    [badRequest("why"), 400, "BadRequest", "why", undefined],
    [expired("why"), 410, "Expired", "why", undefined],
    [
      methodNotAllowed(deployments, "patch"),
      405,
      "MethodNotAllowed",
      'patch is not supported on resources of kind "deployments.apps"',
      { group: "apps", kind: "deployments" },
    ],
    [tooManyRequests("slow down", 3), 429, "TooManyRequests", "slow down", { retryAfterSeconds: 3 }],
  ];
  for (const [error, code, reason, message, details] of expected) {
    assert.equal(error.code, code);
    assert.equal(error.reason, reason);
    assert.equal(error.message, message);
    assert.deepEqual(error.details, details);
    assert.deepEqual(
      { kind: error.status.kind, apiVersion: error.status.apiVersion, status: error.status.status },
      { kind: "Status", apiVersion: "v1", status: "Failure" },
    );
  }
});

test("an invalid object lists everything that is wrong, each thing once", () => {
  const replicas = {
    reason: "FieldValueInvalid",
    field: "spec.replicas",
    message: "Invalid value: -1: too low",
  } as const;
  const name = { reason: "FieldValueRequired", field: "metadata.name", message: "Required value" } as const;
  const kind = { group: "apps", kind: "Deployment" };
  const one = invalid(kind, "web", [replicas]);
  assert.equal(one.message, 'Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1: too low');
  assert.deepEqual(one.details, { name: "web", group: "apps", kind: "Deployment", causes: [replicas] });
  assert.equal(one.code, 422);
  assert.equal(
    invalid({ group: "", kind: "Pod" }, "", [replicas, name, replicas]).message,
    'Pod "" is invalid: [spec.replicas: Invalid value: -1: too low, metadata.name: Required value]',
  );
  assert.equal(invalid(kind, "web", []).message, 'Deployment.apps "web" is invalid');
});

test("names are quoted as Go quotes them", () => {
  assert.equal(notFound(pods, 'a"b\n').message, String.raw`pods "a\"b\n" not found`);
});

test("errors are distinguished by reason, and nothing else is mistaken for one", () => {
  const errors = [
    [isNotFound, notFound(pods, "x")],
    [isAlreadyExists, alreadyExists(pods, "x")],
    [isConflict, modified(pods, "x")],
    [isInvalid, invalid({ group: "", kind: "Pod" }, "x", [])],
    [isForbidden, forbidden(pods, "x", "")],
    [isResourceExpired, expired("")],
  ] as const;
  for (const [is] of errors) {
    assert.deepEqual(errors.filter(([, error]) => is(error)).length, 1);
    assert.ok(!is(new Error("NotFound")));
    assert.ok(!is(undefined));
  }
  for (const [is, error] of errors) assert.ok(is(error));
  assert.ok(isResourceExpired(new ApiError({ code: 410, reason: "Gone" })));
});

test("a bare status still makes an error", () => {
  const cause = new Error("socket closed");
  const error = new ApiError({ code: 503 }, { cause });
  assert.equal(error.message, "the server answered with HTTP status 503");
  assert.equal(error.reason, "Unknown");
  assert.equal(error.cause, cause);
  assert.equal(error.retryAfter, undefined);
  assert.equal(tooManyRequests("", 3).retryAfter, 3000);
});
