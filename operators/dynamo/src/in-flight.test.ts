import assert from "node:assert/strict";
import { test } from "node:test";
import { inFlight } from "./in-flight.ts";

test("requests that run and that wait are both in flight, of all models together", () => {
  const text = [
    "# TYPE vllm:num_requests_running gauge",
    'vllm:num_requests_running{model_name="a"} 2',
    'vllm:num_requests_running{model_name="b"} 1',
    "vllm:num_requests_waiting 4",
    "vllm:request_success_total 900",
  ].join("\n");
  assert.equal(inFlight(text), 7);
  assert.equal(inFlight("dynamo_frontend_inflight_requests 0\n"), 0);
});

test("a pod that tells nothing of requests is not one without requests", () => {
  assert.equal(inFlight("process_cpu_seconds_total 3"), undefined);
  assert.equal(inFlight(undefined), undefined);
});
