import { render } from "preact";
import { followLinks } from "./address";
import { App } from "./app";
import "./style/base.css";
import "./style/parts.css";
import "./style/pages.css";

followLinks();
render(<App />, document.getElementById("app")!);
