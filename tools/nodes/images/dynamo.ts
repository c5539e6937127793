import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DebianImage } from "./debian-image.ts";
import { pythonImage } from "./python-packages.ts";
import { SYSTEM_PATH } from "./server-images.ts";

/** A tokenizer that makes a token of each character: all that Dynamo reads of a model. */
function tokenizerFiles(): Readonly<Record<string, object>> {
  const special = ["<unk>", "<s>", "</s>"];
  const characters = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
  const vocab = Object.fromEntries([...special, ...characters].map((token, id) => [token, id]));
  return {
    "tokenizer.json": {
      version: "1.0",
      added_tokens: special.map((content, id) => ({
        ...{ id, content, special: true, normalized: false },
        ...{ single_word: false, lstrip: false, rstrip: false },
      })),
      decoder: { type: "Fuse" },
      model: { type: "BPE", unk_token: "<unk>", fuse_unk: false, byte_fallback: false, vocab, merges: [] },
    },
    "tokenizer_config.json": {
      ...{ bos_token: "<s>", eos_token: "</s>", unk_token: "<unk>" },
      chat_template: "{% for m in messages %}{{ m['content'] }}{% endfor %}",
    },
    "config.json": {
      ...{ architectures: ["LlamaForCausalLM"], model_type: "llama", vocab_size: Object.keys(vocab).length },
      ...{ hidden_size: 16, intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 },
      ...{ max_position_embeddings: 4096, bos_token_id: 1, eos_token_id: 2 },
    },
    "generation_config.json": { bos_token_id: 1, eos_token_id: 2 },
  };
}

/** Dynamo from PyPI, of the version of the operator's default image, and a model with nothing but a tokenizer. */
export const dynamo = pythonImage({
  name: "docker.io/example/dynamo:0.5.1",
  requirements: ["ai-dynamo==0.5.1"],
  contents: [JSON.stringify(tokenizerFiles())],
  config: { User: "1000", Env: [`PATH=${SYSTEM_PATH}`, "HOME=/tmp", "LANG=C.UTF-8", "PYTHONUNBUFFERED=1"] },
  finish: (root) => {
    const folder = join(root, "models/words");
    mkdirSync(folder, { recursive: true });
    for (const [name, content] of Object.entries(tokenizerFiles())) {
      writeFileSync(join(folder, name), JSON.stringify(content));
    }
  },
});

/** Debian's NATS server. */
export const nats: DebianImage = {
  name: "docker.io/library/nats:2.9",
  packages: ["nats-server"],
  config: { User: "1000", Env: [`PATH=${SYSTEM_PATH}`], Entrypoint: ["nats-server", "--jetstream"] },
};

/** Debian's etcd. */
export const etcd: DebianImage = {
  name: "docker.io/example/etcd:3.4",
  packages: ["etcd-server"],
  config: { User: "1000", Env: [`PATH=${SYSTEM_PATH}`], Entrypoint: ["etcd"] },
};
