"""A worker of a Dynamo graph with Dynamo's engine for tests, which ends as its workers for vLLM do: SIGTERM shuts the runtime
down, which deregisters the worker and finishes its requests. `python3 -m dynamo.mocker` has no such handler.
"""

import asyncio
import signal

import uvloop
from dynamo.llm import EngineType, EntrypointArgs, make_engine, run_input
from dynamo.runtime import DistributedRuntime, dynamo_worker

ENDPOINT = "dyn://dynamo.backend.generate"


@dynamo_worker(static=False)
async def worker(runtime: DistributedRuntime):
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, runtime.shutdown)
    model = EntrypointArgs(
        engine_type=EngineType.Mocker, model_path="/models/words", model_name="words", endpoint_id=ENDPOINT
    )
    await run_input(runtime, ENDPOINT, await make_engine(runtime, model))


uvloop.run(worker())
