"""Stands for vLLM, by the names that Dynamo's worker imports: an engine that generates a token every 0.2 seconds."""

import argparse
import asyncio
import sys
from types import ModuleType, SimpleNamespace

TOKEN_SECONDS = 0.2
TOKEN = 35


class AsyncEngineArgs(SimpleNamespace):
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model")
        parser.add_argument("--served-model-name", nargs="+")
        return parser

    @classmethod
    def from_cli_args(cls, args):
        names = "data_parallel_rank tensor_parallel_size block_size task skip_tokenizer_init disable_log_requests"
        names += " disable_log_stats kv_transfer_config kv_events_config"
        return cls(model=args.model, enable_prefix_caching=False, **dict.fromkeys(names.split()))

    def create_model_config(self):
        return SimpleNamespace(get_diff_sampling_param=dict)

    def create_engine_config(self, usage_context):
        return SimpleNamespace(
            cache_config=SimpleNamespace(num_gpu_blocks=1024),
            scheduler_config=SimpleNamespace(max_num_seqs=256, max_num_batched_tokens=8192),
        )


class AsyncLLM:
    def __init__(self, vllm_config):
        self.vllm_config = vllm_config

    @classmethod
    def from_vllm_config(cls, vllm_config, **options):
        return cls(vllm_config)

    async def check_health(self):
        pass

    async def abort(self, request_id):
        pass

    async def generate(self, prompt, sampling_params, request_id):
        # Each output has all tokens until then.
        for count in range(1, sampling_params.max_tokens + 1):
            await asyncio.sleep(TOKEN_SECONDS)
            reason = "length" if count == sampling_params.max_tokens else None
            output = SimpleNamespace(token_ids=[TOKEN] * count, finish_reason=reason, stop_reason=None)
            yield SimpleNamespace(finished=False, outputs=[output])


class SamplingParams(SimpleNamespace):
    def __init__(self, **given):
        super().__init__(max_tokens=16, extra_args=None, **given)


class Unused(SimpleNamespace):
    pass


def module(name, **names):
    sys.modules[f"vllm.{name}"] = made = ModuleType(f"vllm.{name}")
    vars(made).update(names)


for package in ["distributed", "engine", "usage", "v1", "v1.engine", "v1.metrics"]:
    module(package)
module("config", KVTransferConfig=Unused, VllmConfig=Unused)
module("distributed.kv_events", KVEventsConfig=Unused, ZmqEventPublisher=Unused)
module("engine.arg_utils", AsyncEngineArgs=AsyncEngineArgs)
module("inputs", TokensPrompt=dict)
module("outputs", CompletionOutput=Unused)
module("sampling_params", SamplingParams=SamplingParams)
module("sequence", PromptLogprobs=Unused, RequestMetrics=Unused)
module("usage.usage_lib", UsageContext=SimpleNamespace(OPENAI_API_SERVER=None))
module("utils", FlexibleArgumentParser=argparse.ArgumentParser)
module("v1.engine.async_llm", AsyncLLM=AsyncLLM)
module("v1.engine.exceptions", EngineDeadError=RuntimeError)
module("v1.metrics.loggers", StatLoggerBase=object)
module("v1.metrics.stats", IterationStats=Unused, SchedulerStats=Unused)
