import { externalSystem, type Program, type Scenario } from "@konverge/testing";
import { App, app } from "../../lib/app.ts";
import { reaches, removeApp, untilDeleted } from "../../lib/steps.ts";

export const FINALIZER = "example.com/networks";

/** A cloud with networks, which cost money for as long as they exist. */
class Cloud {
  readonly networks = new Map<string, string>();

  async create(id: string): Promise<void> {
    this.networks.set(id, "available");
  }

  async remove(id: string): Promise<void> {
    this.networks.delete(id);
  }
}

export const cloud = externalSystem(() => new Cloud(), { name: "cloud", resources: ({ networks }) => networks });

/** The networks of an App. */
export const networksOf = (name: string) => [`${name}-net`, `${name}-subnet`];

/** An App with networks is created and deleted. */
export const createdAndDeleted =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a"));
    await reaches(environment, "a", "Ready");
    await removeApp(environment, "a");
    await untilDeleted(environment, App, "a");
  };
