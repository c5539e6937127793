import assert from "node:assert/strict";
import { test } from "node:test";
import { fullImageName } from "./image-name.ts";

test("short names of images are completed as container runtimes complete them", () => {
  const full: Record<string, string> = {
    postgres: "docker.io/library/postgres:latest",
    "postgres:15": "docker.io/library/postgres:15",
    "example/web:v1": "docker.io/example/web:v1",
    "localhost/web": "localhost/web:latest",
    "registry.example.com:5000/web": "registry.example.com:5000/web:latest",
    "ghcr.io/example/web@sha256:abc": "ghcr.io/example/web@sha256:abc",
  };
  for (const [name, expected] of Object.entries(full)) assert.equal(fullImageName(name), expected);
});
