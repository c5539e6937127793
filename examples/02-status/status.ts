// Report what is going on: a status of your own, conditions, and columns for `kubectl get`.
import { ageColumn, conditionColumn, conditionFalse, conditionTrue, controller, defineKind, z } from "konverge";
import { ConfigMap } from "konverge/kinds";

export const Quiz = defineKind({
  group: "examples.konverge.dev",
  kind: "Quiz",
  plural: "quizzes",
  versions: {
    v1: {
      spec: z.object({ question: z.string() }),
      status: z.object({ answer: z.string().optional() }),
      columns: { Question: ".spec.question", Ready: conditionColumn("Ready"), Age: ageColumn },
    },
  },
});

/** Another client writes the answer into a ConfigMap; the controller does not set that field, and reports it. */
export const quizzes = controller(Quiz, {
  owns: [ConfigMap],
  reconcile({ metadata, spec }, { observed }) {
    const sheet = ConfigMap.draft({
      metadata: { name: `${metadata.name}-sheet` },
      data: { question: spec.question },
    });
    const answer = observed(sheet)?.data?.["answer"];
    return {
      children: [sheet],
      status: { answer },
      conditions: { Ready: answer ? conditionTrue("Answered") : conditionFalse("Open", "there is no answer yet") },
    };
  },
});
