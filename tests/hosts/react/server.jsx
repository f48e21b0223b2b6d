import { StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { App } from "./app.jsx";

export const html = renderToString(
  <StrictMode>
    <App />
  </StrictMode>,
);
