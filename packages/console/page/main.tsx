import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render } from "preact";
import { Shell } from "./shell.tsx";
import { openStream } from "./store.ts";

openStream();
render(<Shell />, document.querySelector("#app")!);
