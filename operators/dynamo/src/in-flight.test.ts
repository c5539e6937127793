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
  const early =
    'dynamo_frontend_inflight_requests_total{model="a"} 3\ndynamo_frontend_queued_requests_total{model="a"} 1\n';
  assert.equal(inFlight(early), 4);
});

test("a pod that tells nothing of requests is not one without requests", () => {
  assert.equal(inFlight("process_cpu_seconds_total 3"), undefined);
  assert.equal(inFlight(undefined), undefined);
});
