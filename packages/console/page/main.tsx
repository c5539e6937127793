import "uplot/dist/uPlot.min.css";
import "./styles/theme.css";
import "./styles/frame.css";
import "./styles/signs.css";
import "./styles/overview.css";
import "./styles/entries.css";
import "./styles/filters.css";
import "./styles/object.css";
import "./styles/text-panels.css";
import "./styles/plots.css";
import "./styles/controls.css";
import "./styles/small-screens.css";
import { render } from "preact";
import { Shell } from "./shell.tsx";
import { openStream } from "./store.ts";

openStream();
render(<Shell />, document.querySelector("#app")!);
