import assert from "node:assert/strict";
import { test } from "node:test";
import { isVerifier, scramVerifier, verifies } from "./scram.ts";

test("a verifier is that of RFC 7677's example", () => {
  const verifier = scramVerifier("pencil", Buffer.from("W22ZaJ0SNY7soEsUEjb6gQ==", "base64"));
  assert.equal(
    verifier,
    "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
  );
  assert.ok(isVerifier(verifier) && verifies(verifier, "pencil"));
});

test("another password, or what is no verifier, does not pass", () => {
  const verifier = scramVerifier("pencil", Buffer.from("salt"));
  assert.equal(verifies(verifier, "pencils"), false);
  for (const text of ["", "pencil", "md50123", verifier.slice(0, -1), verifier.replace("4096", "x")]) {
    assert.equal(verifies(text, "pencil"), false, text);
  }
});
