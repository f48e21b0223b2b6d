// A copy button for each listing. Without script the listing is complete; the button only saves a selection.

export function copyButtons(): void {
  for (const block of document.querySelectorAll<HTMLElement>(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    const label = block.querySelector(".code-label")?.textContent ?? "";
    button.setAttribute("aria-label", `Copy the ${label} listing`);
    button.addEventListener("click", async () => {
      const code = block.querySelector("code");
      if (!code) return;
      try {
        await navigator.clipboard.writeText(code.textContent ?? "");
        button.textContent = "Copied";
      } catch {
        getSelection()?.selectAllChildren(code);
        button.textContent = "Selected: copy it by keyboard";
      }
      announce(button.textContent);
      setTimeout(() => {
        button.textContent = "Copy";
      }, 4000);
    });
    block.append(button);
  }
}

function announce(text: string): void {
  let region = document.querySelector<HTMLElement>("#announce");
  if (!region) {
    region = document.createElement("p");
    region.id = "announce";
    region.className = "visually-hidden";
    region.setAttribute("role", "status");
    document.body.append(region);
  }
  region.textContent = text;
}
