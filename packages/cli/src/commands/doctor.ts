import { Command } from "commander";
import { milliseconds } from "../arguments.ts";
import type { ClusterChoice } from "../cluster-connection.ts";
import { type Output, outputOption } from "../output-option.ts";
import { colored } from "../terminal.ts";

interface DoctorFlags extends ClusterChoice {
  readonly namespace?: string;
  readonly observe: number;
  readonly output: Output;
}

/** `konverge doctor` */
export function doctorCommand(): Command {
  return new Command("doctor")
    .description("find what is wrong with a cluster and its operators, or with one object, and say how to fix it")
    .argument("[object]", "KIND/NAME: examine this object and what it owns (default: everything)")
    .option("--namespace <name>", "namespace of the object (default: that of the context)")
    .option("--observe <duration>", "how long writes are watched for conflicts and hot loops", milliseconds, 5_000)
    .addOption(outputOption())
    .option("--kubeconfig <file>", "kubeconfig file (default: $KUBECONFIG or ~/.kube/config)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)")
    .addHelpText(
      "after",
      `
Checks: permissions of deployed operators of this project, unreachable webhooks, certificates that expire, finalizers that
hold a deletion and who has set them, versions that do not fit together, objects and children that are not ready, paused objects,
two controllers that change the same field, and hot loops. It writes nothing. Exits with 1 if something was found.

For example: npx konverge doctor
             npx konverge doctor trainingjob/llama --namespace ml
             npx konverge doctor --output json`,
    )
    .action(async (object: string | undefined, { observe, output, namespace, ...choice }: DoctorFlags) => {
      const { connectToCluster } = await import("../cluster-connection.ts");
      const { doctor } = await import("../doctor/doctor.ts");
      const { projectOperators } = await import("../operators/operator-modules.ts");
      await using client = await connectToCluster(choice);
      const findings = await doctor(client, {
        ...{ observe, namespace: namespace ?? client.namespace, operators: await projectOperators() },
        ...(object !== undefined && { object }),
      });
      if (output === "json") console.log(JSON.stringify(findings, undefined, 2));
      else if (findings.length === 0) console.log("Nothing was found.");
      for (const { check, object: name, problem, fix } of output === "json" ? [] : findings) {
        console.log(`${colored(process.stdout, "red", check)}: ${name}: ${problem}\n  ${fix}`);
      }
      if (findings.length > 0) process.exitCode = 1;
    });
}
