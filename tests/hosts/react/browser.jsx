import { StrictMode } from "react";
import { hydrateRoot } from "react-dom/client";
import { App } from "./app.jsx";
import "./page.css";

hydrateRoot(
  document.querySelector("#root"),
  <StrictMode>
    <App />
  </StrictMode>,
);
