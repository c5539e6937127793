/**
 * All operators of this repository in one list: what the image runs, what `konverge up --operators all` deploys and what the
 * demo shows. An operator is added here, with one line, and its samples are found beside its sources.
 */
import { databaseOperator } from "@konverge/database-operator";
import { dynamoOperator } from "@konverge/dynamo-operator";
import { kubeflowOperator } from "@konverge/kubeflow-operator";
import { llmOperator } from "@konverge/llm-operator";
import { rayOperator } from "@konverge/ray-operator";
import { seldonOperator } from "@konverge/seldon-operator";
import { trainingOperator } from "@konverge/training-operator";
import type { Operator } from "konverge";

/** Every operator of this repository, in the order in which they are listed to users. */
export const operators: readonly Operator[] = [
  llmOperator,
  trainingOperator,
  kubeflowOperator,
  rayOperator,
  seldonOperator,
  dynamoOperator,
  databaseOperator,
];

export { type Sample, samplesOf } from "./samples.ts";
