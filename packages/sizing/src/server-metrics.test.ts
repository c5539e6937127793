import assert from "node:assert/strict";
import { test } from "node:test";
import { readInferenceMetrics, readSglangMetrics, readVllmMetrics } from "./server-metrics.ts";

const SGLANG = `
sglang:num_running_reqs{engine_type="unified",model_name="m",tp_rank="0"} 2.0
sglang:num_queue_reqs{engine_type="unified",model_name="m",tp_rank="0"} 3.0
sglang:num_requests_total{is_streaming="True",model_name="m"} 30.0
sglang:num_requests_total{is_streaming="False",model_name="m"} 10.0
sglang:e2e_request_latency_seconds_bucket{le="1.0",model_name="m"} 25.0
sglang:e2e_request_latency_seconds_bucket{le="+Inf",model_name="m"} 40.0
sglang:e2e_request_latency_seconds_sum{model_name="m"} 60.0
sglang:e2e_request_latency_seconds_count{model_name="m"} 40.0
sglang:time_to_first_token_seconds_bucket{le="0.1",model_name="m"} 39.0
sglang:inter_token_latency_seconds_bucket{le="0.02",model_name="m"} 400.0
sglang:queue_time_seconds_bucket{le="0.05",model_name="m"} 7.0
sglang:http_responses_total{endpoint="/v1/completions",method="POST",status_code="200"} 40.0
sglang:http_responses_total{endpoint="/v1/completions",method="POST",status_code="503"} 4.0
`;

test("SGLang's metrics say the same as vLLM's", () => {
  const sample = readSglangMetrics(SGLANG)!;
  assert.deepEqual([sample.answered, sample.pending, sample.failed], [40, 5, 4]);
  assert.deepEqual(sample.service, { sum: 60, count: 40 });
  assert.deepEqual(
    [...sample.latency],
    [
      [1, 25],
      [Number.POSITIVE_INFINITY, 40],
    ],
  );
  assert.deepEqual([...(sample.parts?.keys() ?? [])], ["timeToFirstToken", "interTokenLatency", "queueTime"]);
  assert.deepEqual(readInferenceMetrics(SGLANG), sample);
});

test("each server's metrics are read under its own names alone", () => {
  assert.equal(readVllmMetrics(SGLANG), undefined);
  assert.equal(readSglangMetrics("vllm:num_requests_running 1"), undefined);
  // llama.cpp does not count requests: nothing follows for a load.
  assert.equal(readInferenceMetrics("llamacpp:requests_processing 1\nllamacpp:requests_deferred 2"), undefined);
});
