import type { FieldError } from "konverge";
import { podTemplateErrors } from "konverge/pods";
import { fieldForbidden, fieldInvalid } from "konverge/webhooks";
import { HF_TOKEN } from "./container-layout.ts";
import { engineOf } from "./engines/engine-of.ts";
import { maxLorasOf } from "./lora.ts";
import type { FileSource } from "./model-source.ts";
import { flagSetBy } from "./server-args.ts";
import type { ServingSpec } from "./serving-spec.ts";

function pathsIn(field: string, source: FileSource | undefined): Record<string, string | undefined> {
  return {
    [`${field}.claim.path`]: source?.claim?.path,
    [`${field}.s3.uri`]: source?.s3?.uri,
    [`${field}.image.path`]: source?.image?.path,
  };
}

/** What is wrong with the fields that both kinds share, beyond what the schema can say. */
export function servingErrors(spec: ServingSpec, modelName: string, ownArgs: readonly string[] = []): FieldError[] {
  const errors: FieldError[] = [];
  const { source, lora } = spec;
  const engine = engineOf(spec);
  const derived = [
    ...ownArgs,
    ...engine.ownArgs,
    ...(source?.huggingFace?.revision ? ["--revision"] : []),
    ...(lora ? (engine.adapterFlags ?? []) : []),
  ];
  for (const [i, arg] of (spec.args ?? []).entries()) {
    const flag = flagSetBy(arg, derived, engine.aliases);
    if (i === 0 && !arg.startsWith("-")) {
      errors.push(fieldInvalid("spec.args[0]", arg, "must be a flag: the model is derived from other fields"));
    } else if (flag) {
      errors.push(fieldForbidden(`spec.args[${i}]`, `${flag} is derived from other fields: set those instead`));
    }
  }
  for (const [i, { name }] of (spec.env ?? []).entries()) {
    if (name === "MODEL_NAME") {
      errors.push(fieldForbidden(`spec.env[${i}]`, "MODEL_NAME is derived from the model's name: set that instead"));
    }
  }
  const token = source?.huggingFace?.tokenSecret && spec.env?.findIndex(({ name }) => name === HF_TOKEN);
  if (token !== undefined && token >= 0) {
    errors.push(
      fieldForbidden(`spec.env[${token}]`, `${HF_TOKEN} is derived from spec.source.huggingFace.tokenSecret`),
    );
  }
  const adapters = lora?.adapters ?? [];
  const served = adapters.findIndex(({ name }) => name === modelName);
  if (served >= 0) {
    errors.push(fieldInvalid(`spec.lora.adapters[${served}].name`, modelName, "is the name of the model itself"));
  }
  if (lora?.maxCpuLoras !== undefined && lora.maxCpuLoras < maxLorasOf(lora)) {
    const least = `must be at least maxLoras, which is ${maxLorasOf(lora)}`;
    errors.push(fieldInvalid("spec.lora.maxCpuLoras", lora.maxCpuLoras, least));
  }
  const paths = {
    "spec.modelPath": spec.modelPath,
    ...pathsIn("spec.source", source),
    ...Object.assign({}, ...adapters.map((one, i) => pathsIn(`spec.lora.adapters[${i}].source`, one.source))),
  } as Record<string, string | undefined>;
  for (const [field, path] of Object.entries(paths)) {
    if (path?.split("/").includes("..")) errors.push(fieldInvalid(field, path, "must not contain .."));
  }
  const { fileSuffix } = engine;
  if (fileSuffix !== undefined) {
    const files = {
      "spec.modelPath": spec.modelPath,
      ...pathsIn("spec.source", source),
      ...(source?.claim && { "spec.source.claim.path": source.claim.path ?? "" }),
      ...(source?.image && { "spec.source.image.path": source.image.path ?? "" }),
    };
    for (const [field, path] of Object.entries(files)) {
      if (path !== undefined && !path.endsWith(fileSuffix))
        errors.push(fieldInvalid(field, path, `must be a file of the model, which ends with ${fileSuffix}`));
    }
  }
  return [...errors, ...podTemplateErrors(spec.template)];
}
