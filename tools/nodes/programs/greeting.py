"""An application of Ray Serve: it answers with the word of its configuration, the edition of its cluster and its host."""

import os
import socket

from ray import serve


@serve.deployment(num_replicas=2, max_replicas_per_node=1, ray_actor_options={"num_cpus": 0.1})
class Greeting:
    def reconfigure(self, config):
        self.word = config["word"]

    async def __call__(self, request):
        return f"{self.word} {os.environ['EDITION']} {socket.gethostname()}"


app = Greeting.bind()
