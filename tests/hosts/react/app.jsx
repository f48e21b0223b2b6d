// A course of two chapters. The page holds the state of the figure that the second one shows, and gives it back.
import "posenc/elements";
import { useEffect, useRef, useState } from "react";

export function App() {
  const [chapter, open] = useState("Sinusoidal");
  const [state, keep] = useState({ "d-model": 64, "seq-len": 40 });

  useEffect(() => {
    const shortcuts = ({ key }) => {
      if (key === "n") open("Plain");
      if (key === "p") open("Sinusoidal");
    };
    addEventListener("keydown", shortcuts);
    return () => removeEventListener("keydown", shortcuts);
  }, []);

  return (
    <>
      <nav>
        {["Plain", "Sinusoidal"].map((name) => (
          <button key={name} type="button" id={name} onClick={() => open(name)}>
            {name}
          </button>
        ))}
        <Theme />
      </nav>
      <main>
        <h1>{chapter}</h1>
        {chapter === "Sinusoidal" && <Sinusoidal state={state} keep={keep} />}
        <output>{JSON.stringify(state)}</output>
      </main>
    </>
  );
}

function Sinusoidal({ state, keep }) {
  const figure = useRef(null);
  const [drawn, draw] = useState(false);
  useEffect(() => {
    figure.current.ready.then(() => draw(true));
  }, []);
  return (
    <>
      <pe-heatmap ref={figure} {...state} onpe-change={(event) => keep(event.detail)} />
      <button type="button" id="small" onClick={() => keep({ ...state, "d-model": 8 })}>
        d_model 8
      </button>
      <button type="button" id="reset" onClick={() => figure.current.reset()}>
        As at first
      </button>
      <p>{drawn ? "The figure is drawn." : "The figure comes."}</p>
    </>
  );
}

function Theme() {
  const [theme, set] = useState("light");
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  return (
    <button type="button" id="theme" onClick={() => set(theme === "light" ? "dark" : "light")}>
      {theme}
    </button>
  );
}
