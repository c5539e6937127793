// Report what is going on: a status of your own, conditions, and columns for `kubectl get`.
import { age, condition, controller, defineKind, no, yes } from "konverge";
import { ConfigMap } from "konverge/kinds";
import { z } from "zod";

export const Quiz = defineKind({
  group: "examples.konverge.dev",
  kind: "Quiz",
  plural: "quizzes",
  versions: {
    v1: {
      spec: z.object({ question: z.string() }),
      status: z.object({ answer: z.string().optional() }),
      columns: { Question: ".spec.question", Ready: condition("Ready"), Age: age },
    },
  },
});

/** The answer is written into a ConfigMap by somebody else; the controller leaves that field alone, and reports it. */
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
      conditions: { Ready: answer ? yes("Answered") : no("Open", "nobody has answered yet") },
    };
  },
});
