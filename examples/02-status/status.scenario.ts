import type { Condition } from "konverge";
import { ConfigMap } from "konverge/kinds";
import type { Place } from "../test/place.ts";
import { Quiz, quizzes } from "./status.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Quiz);
  await run(quizzes);
  await client.create(Quiz.new({ metadata: { name: "q", namespace }, spec: { question: "why?" } }));
  const ready = async () => {
    const { status, metadata } = await client.get(Quiz, `${namespace}/q`);
    const conditions = (status as { conditions?: Condition[] } | undefined)?.conditions ?? [];
    const found = conditions.find(({ type }) => type === "Ready");
    return found?.observedGeneration === metadata.generation ? `${found?.status} ${found?.reason}` : "not yet judged";
  };
  await until("it waits for an answer", async () => (await ready()) === "False Open");
  await client.patch(ConfigMap, `${namespace}/q-sheet`, { merge: { data: { answer: "because" } } });
  await until("the answer is reported", async () => {
    const { status } = await client.get(Quiz, `${namespace}/q`);
    return status?.answer === "because" && (await ready()) === "True Answered";
  });
}
